"""Each block prints the norm of what it gives, to find where it explodes.

kind: graph break
advice: out of the compiled code

Made after a pattern common in threads on exploding activations.
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, name):
        super().__init__()
        self.name = name
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        x = torch.relu(self.linear(x)) + x
        print(self.name, "shows", x.norm())  # cause
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(8, "first")
        self.second = Block(8, "second")

    def forward(self, x):
        return self.second(self.first(x)).mean()


torch.manual_seed(0)
net = torch.compile(Net().eval(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(round(net(torch.ones(2, 8)).item(), 4))
