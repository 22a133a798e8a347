"""Two breaks: a value that is read for a branch, and a synchronisation in the middle."""

import os

import torch

device = os.environ["DEVICE"]
model = torch.nn.Linear(64, 64).to(device)


@torch.compile
def step(x):
    hidden = model(x).relu()
    if hidden.mean() > 0:
        hidden = hidden * 2
    if device == "cuda":
        torch.cuda.synchronize()
    return hidden.sum()


torch.manual_seed(0)
with torch.no_grad():
    for _ in range(20):
        step(torch.rand(32, 64, device=device))
print("done")
