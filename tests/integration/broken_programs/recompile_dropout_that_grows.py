"""The rate of a dropout grows from epoch to epoch.

kind: recompile
advice: in a buffer

Made after a pattern common in threads on scheduled dropout and stochastic depth (timm's drop path).
"""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return x + self.dropout(F.relu(self.linear(x)))  # cause


class Net(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)

    def set_dropout(self, rate):
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = rate


def main():
    torch.manual_seed(0)
    model = Net()
    compiled = torch.compile(model, backend="eager")
    epochs = 6
    for epoch in range(epochs):
        model.set_dropout(0.5 * epoch / epochs)
        for _ in range(3):
            out = compiled(torch.randn(32, 16))
        print(epoch, tuple(out.shape))


main()
