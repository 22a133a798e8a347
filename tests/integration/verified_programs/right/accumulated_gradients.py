"""Gradients of several batches are added before a step."""

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(3, 1)
model = torch.compile(layer)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for number in range(4):
    (model(torch.full((2, 3), float(number))).sum() / 2).backward()
    if number % 2:
        print(f"{layer.weight.grad.sum().item():.3f}")
        optimizer.step()
        optimizer.zero_grad()
