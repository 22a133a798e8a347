"""`masked_select`, whose output has as many elements as the mask has.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS
"""

import torch


@torch.compile(backend="eager")
def positive(x):
    y = x + 1
    return torch.masked_select(y, y > 0).sum()  # cause


print(positive(torch.tensor([1.0, -3.0, 2.0])).item())
