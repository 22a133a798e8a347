"""A layer norm of numbers whose squares do not fit gives zeros where eager gives no number.

An idea of our own.

kind: value
stage: decompositions
"""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.up = nn.Linear(width, width, bias=False)

    def norm(self, x):
        return F.layer_norm(x, (self.width,))  # cause

    def forward(self, x):
        x = self.up(x)
        x = x * 1e25
        x = self.norm(x)
        x = torch.nan_to_num(x, nan=3.0)
        return x.sum(-1)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), Block(4))
compiled = torch.compile(net)
with torch.no_grad():
    print(compiled(torch.randn(2, 4)).tolist())
