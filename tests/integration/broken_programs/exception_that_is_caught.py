"""A lookup that fails, and is caught, around a break.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch

table = {}


@torch.compile(backend="eager")
def looked_up(x, key):
    y = x.sin()
    try:
        scale = table[key]
    except KeyError:
        scale = int(y.sum() * 0) + 2  # cause
    return y * scale


print(looked_up(torch.ones(2), "a").tolist())
