"""Training that is saved with its optimizer, schedule and RNG state, and resumed, is as one that went on."""

import os
import tempfile

import torch
from torch import nn


def build():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.3), nn.Linear(6, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)


def step(model, optimizer, scheduler):
    x = torch.randn(5, 3)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss.item()


parts = build()
losses = [step(*parts) for _ in range(3)]
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "checkpoint.pt")
    torch.save([part.state_dict() for part in parts] + [torch.get_rng_state()], file)
    losses += [step(*parts) for _ in range(3)]
    resumed = build()
    *states, random_state = torch.load(file)
    for part, state in zip(resumed, states, strict=True):
        part.load_state_dict(state)
    torch.set_rng_state(random_state)
    again = [step(*resumed) for _ in range(3)]
print(losses, again, losses[3:] == again)
