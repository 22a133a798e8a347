"""A slice up to a value in a tensor.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def model(x, n):
    y = x.sin()
    return y[:n].sum()  # cause


print(model(torch.ones(4), torch.tensor(2)).item())
