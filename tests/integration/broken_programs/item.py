"""A value is taken out of a tensor, to calculate with.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    largest = y.abs().max().item()  # cause
    return y / largest


print(scaled(torch.tensor([0.1, 0.4])).tolist())
print(scaled(torch.tensor([0.2, 0.4])).tolist())
