"""Dynamo loses the sizes that come from a tensor.

After pytorch/pytorch#158058.
origin: source
kind: exception
"""

import torch

torch._dynamo.config.capture_scalar_outputs = True


class Positions:
    def __init__(self, scale):
        self.scale = scale

    def between(self, bounds):
        first, last = bounds
        return torch.arange(first, last) * self.scale


positions = Positions(2)
compiled = torch.compile(positions.between, backend="eager", fullgraph=True)
for last in (4, 6):
    print(compiled(torch.tensor([2, last])))
