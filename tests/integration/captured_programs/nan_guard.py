"""Steps whose loss is not finite are skipped; the check reads the loss, and anomalies are counted."""

import math

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
skipped = 0


def loss_of(x):
    return model(x).abs().log().mean()


for step in range(5):
    x = torch.randn(4, 3)
    if step == 2:
        x[0, 0] = float("nan")
    if step == 3:
        x[1, 1] = float("inf")
    loss = loss_of(x)
    if not math.isfinite(loss.item()):
        skipped += 1
        continue
    optimizer.zero_grad()
    loss.backward()
    if not all(torch.isfinite(p.grad).all() for p in model.parameters()):
        skipped += 1
        continue
    optimizer.step()
    print(step, loss.item())
print(skipped, model.weight.tolist())
