"""A weight that is computed from two parameters in each call is trained."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 8)), torch.nn.ReLU(), torch.nn.Linear(8, 1)
)
step = torch.compile(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    step(torch.arange(12.0).reshape(3, 4) / 12).square().mean().backward()
    optimizer.step()
print([round(float(each.detach().sum()), 3) for each in model.parameters()])
