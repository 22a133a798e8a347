"""A loop over the rows that a condition selects, where torch keeps the selection in the graph.

kind: fell back to eager
advice: with a mask
"""

import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True


@torch.compile(backend="eager")
def total(x):
    out = torch.zeros(2)
    for row in (x[:, 0] > 0).nonzero():  # cause
        out = out + x[row].sum(0)
    return out


for first in (1.0, -1.0):
    print(total(torch.tensor([[first, 2.0], [3.0, 4.0], [-5.0, 6.0]])).tolist())
