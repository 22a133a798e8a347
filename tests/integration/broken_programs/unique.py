"""An operator whose output's size depends on the data.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS
"""

import torch


@torch.compile(backend="eager")
def kinds(x):
    y = x * 2
    values = torch.unique(y)  # cause
    return values.sum() + 1


print(kinds(torch.tensor([1, 2, 2, 3])).item())
print(kinds(torch.tensor([1, 1, 1, 3])).item())
