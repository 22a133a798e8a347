"""A module is compiled by its own method."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.GELU(), torch.nn.Linear(3, 1))
model.compile()
x = torch.randn(4, 3, requires_grad=True)
for _ in range(2):
    model(x).sum().backward()
print(f"{x.grad.sum().item():.3f}")
