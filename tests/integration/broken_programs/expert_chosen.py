"""One expert of a layer is chosen by the largest weight.

kind: graph break
advice: choose by the tensor

Made after a pattern common in threads on switch layers.
"""

import torch
from torch import nn


class Switch(nn.Module):
    def __init__(self, dim=8, experts=3):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(dim, dim), nn.Tanh()) for _ in range(experts))

    def forward(self, x):
        weight = self.gate(x.mean(0)).softmax(-1)
        chosen = int(weight.argmax())  # cause
        return weight[chosen] * self.experts[chosen](x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.switch, self.head = nn.Linear(5, 8), Switch(), nn.Linear(8, 2)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = x + self.switch(x)
        return self.head(x)


torch.manual_seed(0)
net = torch.compile(Net().eval(), backend="eager")
with torch.no_grad():
    for i in range(6):
        print(f"{net(torch.randn(4, 5) * (i + 1)).sum().item():.4f}")
