"""A list that is put in order by what its tensors hold.

kind: graph break
advice: argsort
"""

import torch


@torch.compile(backend="eager")
def ordered(x):
    rows = list((x * 2).unbind())
    rows = sorted(rows, key=lambda row: row.sum())  # cause
    return torch.stack(rows).cos()


print(ordered(torch.tensor([[3.0, 4.0], [1.0, 2.0], [5.0, 0.5]])).tolist())
