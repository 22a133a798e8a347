"""Gradients accumulated over micro-batches, clipped by norm and by value, with a schedule and averages."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.5)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=6)


def loss_of(x, y):
    return nn.functional.smooth_l1_loss(model(x).squeeze(-1), y)


for step in range(5):
    for micro in range(3):
        x = torch.randn(2 + micro, 4)
        (loss_of(x, x.sum(1)) / 3).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    nn.utils.clip_grad_value_(model.parameters(), 0.3)
    optimizer.step()
    optimizer.zero_grad(set_to_none=step % 2 == 0)
    scheduler.step()
    print(step, norm.item(), scheduler.get_last_lr()[0], model[0].weight.norm().item())
