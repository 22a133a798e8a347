"""ParameterList, ParameterDict, lazy modules, modules added and replaced between calls."""

import torch
from torch import nn

torch.manual_seed(0)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(3)) for _ in range(2)])
        self.scales = nn.ParameterDict({"a": nn.Parameter(torch.ones(1)), "b": nn.Parameter(torch.zeros(1))})
        self.head = nn.LazyLinear(2)

    def forward(self, x, name):
        return self.head(sum(x * w for w in self.weights) * self.scales[name] + x)


model = Mixture()
print(type(model.head).__name__)
x = torch.randn(2, 3)
print(model(x, "a").tolist(), type(model.head).__name__, tuple(model.head.weight.shape))
model.weights.append(nn.Parameter(torch.ones(3)))
print(model(x, "b").tolist(), model(x, "a").tolist())
model.head = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
model(x, "b").sum().backward()
print([(name, p.grad is None) for name, p in model.named_parameters()])
model.extra = nn.Linear(2, 2)
model.weights[0].data.zero_()
print(model(x, "a").tolist(), len(model.state_dict()))
