"""A value is taken out of a tensor inside `try`.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin().cos()
    try:
        scale = y.max().item()  # cause
    finally:
        y = y + 1
    return y * scale


print(model(torch.ones(3)).tolist())
