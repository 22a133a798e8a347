"""A tensor is made a bool.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def masked(x, flag):
    y = x.cos()
    return y * bool(flag.any())  # cause


print(masked(torch.arange(3.0), torch.tensor([True, False])).tolist())
print(masked(torch.arange(3.0), torch.tensor([False, False])).tolist())
