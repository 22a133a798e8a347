"""Blocks alike, but for the number that each has.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


class Block(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return x + self.linear(x) / (self.number + 1)  # cause


torch.manual_seed(0)
blocks = [torch.compile(Block(number), backend="eager") for number in range(12)]
x = torch.ones(2, 4)
for block in blocks:
    x = block(x)
    print(round(x.sum().item(), 4))
