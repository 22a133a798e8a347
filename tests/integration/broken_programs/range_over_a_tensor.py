"""A loop as long as a tensor says.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def model(x, n):
    y = x.sin()
    for _ in range(int(n)):  # cause
        y = y * 2
    return y.sum()


print(model(torch.ones(4), torch.tensor(2)).item())
