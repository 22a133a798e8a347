"""The program has given Inductor a wrong decomposition of an operator.

Planted.
kind: value
stage: decompositions
"""

import torch
import torch.nn.functional as F
from torch._inductor.decomposition import decompositions

aten = torch.ops.aten


def hardswish(x):
    return x * torch.clamp(x + 3.0, 0.0, 5.0) / 6.0


decompositions[aten.hardswish.default] = hardswish


class Bottleneck(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.narrow = torch.nn.Linear(width, 2)
        self.wide = torch.nn.Linear(2, width)
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        residual = x
        x = F.hardsigmoid(self.narrow(x))
        x = self.wide(x)
        x = F.hardswish(x * 8.0)  # cause
        x = self.norm(x)
        return residual + F.hardtanh(x)


torch.manual_seed(0)
model = torch.compile(Bottleneck(4), backend="aot_eager_decomp_partition")
print(model(torch.randn(3, 4)).detach())
