"""Tensors of inference mode, and others.

kind: recompile
advice: inference_mode
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    return x * 2  # cause


print(scaled(torch.ones(4)).tolist())
with torch.inference_mode():
    x = torch.ones(4)
print(scaled(x).tolist())
