"""A parametrization that iterates a vector of its own at each call."""

import torch

torch.manual_seed(0)
layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(4, 4))
step = torch.compile(layer)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = step(torch.ones(2, 4)).pow(2).sum()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
