"""An activation with an alpha of zero raises in eager alone.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch
import torch.nn.functional as F


class Gate(torch.nn.Module):
    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x, gate):
        gate = F.elu(gate, self.alpha)
        gate = gate + 1.0
        gate = F.celu(gate, self.alpha)  # cause
        return x * F.softplus(gate)


gate = torch.compile(Gate(0.0), backend="aot_eager_decomp_partition")
try:
    print(gate(torch.ones(3), torch.tensor([-1.0, 0.0, 2.0])))
except RuntimeError as error:
    print(type(error).__name__)
