"""Inductor's lowering of an operator is a wrong one.

Planted.
kind: value
stage: inductor
"""

import torch
import torch._inductor.lowering as lowering

right = lowering.lowerings[torch.ops.aten.maximum.default]
lowering.lowerings[torch.ops.aten.maximum.default] = lowering.lowerings[torch.ops.aten.minimum.default]


@torch.compile
def step(x, y):
    total = x + y
    largest = torch.maximum(x, y)  # cause
    return total * largest


print(step(torch.arange(4.0), torch.ones(4)))
