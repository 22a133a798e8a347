"""A method returns what it compares as a bool, and its caller branches on it.

kind: graph break
advice: torch.where

Made after https://github.com/vipshop/cache-dit/issues/76
"""

import torch


class Blocks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rest", torch.full((4,), 0.5))

    def hardly_changed(self, residual):
        return residual.abs().mean().item() < 0.5  # cause

    def forward(self, x):
        first = torch.tanh(x)
        if self.hardly_changed(first - x):
            return first + self.rest
        return torch.tanh(first * 2)


blocks = torch.compile(Blocks(), backend="eager")
for scale in (0.1, 1.0, 3.0):
    print(blocks(torch.full((4,), scale)).tolist())
