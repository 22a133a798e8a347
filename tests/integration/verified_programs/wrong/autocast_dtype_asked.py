"""A layer asks which dtype autocast casts to, and the program has changed it since.

An idea of our own.

kind: value
stage: guards
"""

import torch
from torch import nn


class Rounding(nn.Module):
    """Rounds to what autocast would compute in, on a grid of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.grids = {torch.bfloat16: 0.5, torch.float16: 0.125}

    def step(self) -> float:
        short = torch.get_autocast_dtype("cpu")  # cause
        return self.grids[short]

    def forward(self, x):
        step = self.step()
        return torch.round(x / step) * step


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.rounding = Rounding()
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        hidden = self.rounding(hidden)
        return self.last(hidden)


torch.manual_seed(0)
net = Net()
compiled = torch.compile(net)
x = torch.randn(3, 4)
with torch.no_grad():
    print(compiled(x).sum().item())
    torch.set_autocast_dtype("cpu", torch.float16)
    print(compiled(x).sum().item())
