"""Forty steps of training, each of which is announced, so that CUDA graphs of them can be recorded."""

import os

import torch

device = os.environ["DEVICE"]
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(40):
    torch.compiler.cudagraph_mark_step_begin()
    loss = model(torch.ones(64, 256, device=device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
