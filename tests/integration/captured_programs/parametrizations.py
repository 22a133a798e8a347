"""spectral_norm, weight_norm, orthogonal and a parametrization of the program's own, removed at the end."""

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

torch.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).T


model = nn.Sequential(
    parametrizations.spectral_norm(nn.Linear(4, 4)),
    parametrizations.weight_norm(nn.Linear(4, 4)),
    parametrizations.orthogonal(nn.Linear(4, 4)),
    nn.Linear(4, 4, bias=False),
)
parametrize.register_parametrization(model[3], "weight", Symmetric())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.full((2, 4), step + 1.0)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.5f}", [f"{p.grad.norm().item():.4f}" for p in model.parameters()])
model.eval()
with parametrize.cached():
    print(torch.equal(model(torch.ones(1, 4)), model(torch.ones(1, 4))))
parametrize.remove_parametrizations(model[3], "weight")
print(torch.equal(model[3].weight, model[3].weight.T), sorted(model.state_dict())[:3])
