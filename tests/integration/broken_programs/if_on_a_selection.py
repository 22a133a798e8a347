"""A branch on how many rows a condition selects, where torch keeps the selection in the graph.

kind: fell back to eager
advice: with a mask
"""

import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True


@torch.compile(backend="eager")
def means(x, kind):
    out = x.sum(0)
    for k in range(3):
        rows = x[kind == k]
        if rows.shape[0] == 0:  # cause
            continue
        out = out + rows.mean(0)
    return out


print(means(torch.arange(8.0).reshape(4, 2), torch.tensor([0, 2, 2, 0])).tolist())
