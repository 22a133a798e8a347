"""A tensor is made a float.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def scaled(x, scale):
    y = x.cos()
    return y * float(scale)  # cause


print(scaled(torch.arange(3.0), torch.tensor(0.5)).tolist())
print(scaled(torch.arange(3.0), torch.tensor(0.7)).tolist())
