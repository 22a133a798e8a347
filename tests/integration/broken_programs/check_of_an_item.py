"""`torch._check` of a value that is taken out of a tensor.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def checked(x):
    y = x.cos()
    torch._check((y.sum() > 0).item(), lambda: "the sum must be positive")  # cause
    return y * 2


print(checked(torch.tensor([0.1, 0.4])).tolist())
