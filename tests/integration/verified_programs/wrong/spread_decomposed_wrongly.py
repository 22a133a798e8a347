"""The program has given Inductor a wrong decomposition of a variance, which a helper computes.

Planted.
kind: value
stage: decompositions
"""

import torch
from torch._inductor.decomposition import decompositions

aten = torch.ops.aten


def var_without_correction(x, dim=None, *, correction=None, keepdim=False):
    mean = x.mean(dim, keepdim=True)
    return (x - mean).square().mean(dim, keepdim=keepdim)


decompositions[aten.var.correction] = var_without_correction


def centered(x):
    return x - x.mean(dim=-1, keepdim=True)


def standardized(x):
    x = centered(x)
    spread = torch.var(x, dim=-1, keepdim=True)  # cause
    return x * torch.rsqrt(spread + 1e-5)


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.value = torch.nn.Linear(4, 4)
        self.gate = torch.nn.Linear(4, 4)

    def forward(self, x):
        value = torch.relu(self.value(x))
        gate = torch.sigmoid(self.gate(x))
        x = standardized(value * gate + x)
        return x.sum(dim=0)


torch.manual_seed(0)
gate = torch.compile(Gate())
with torch.no_grad():
    print(gate(torch.linspace(-1.0, 1.0, 8).reshape(2, 4)))
