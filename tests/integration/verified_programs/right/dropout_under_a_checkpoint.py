"""A part of a captured model draws numbers, and is calculated again in the backward with the same ones.

By itself the graph of it draws others there.
"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 4))

    def forward(self, x):
        return x + checkpoint(self.net, x, use_reentrant=False)


block = Block()
for _ in range(2):
    x = torch.ones(3, 4, requires_grad=True)
    block(x).pow(2).sum().backward()
    print(round(x.grad.sum().item(), 3), round(block.net[0].weight.grad.norm().item(), 3))
