"""What the program has put in the place of a function for tracing computes something else.

Planted.
kind: value
stage: tracing
"""

import math

import torch


def rounded_up(x):
    """To the next multiple of eight."""
    return math.ceil(x / 8) * 8


def width_of(rows, columns):
    return rows * 2 + columns


@torch.compiler.substitute_in_graph(rounded_up)
def rounded_up_while_tracing(x):
    return (x // 8) * 8


class Padding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((4,), 1.5))

    def forward(self, x):
        x = x * self.scale
        width = width_of(*x.shape)
        missing = rounded_up(width) - width  # cause
        x = torch.nn.functional.pad(x, (0, missing % 5))
        return x - x.mean(dim=-1, keepdim=True)


padding = torch.compile(Padding(), backend="eager")
print(padding(torch.arange(12.0).reshape(3, 4)).detach())
