"""The default dtype is set between calls.

kind: recompile
advice: default dtype
"""

import torch


@torch.compile(backend="eager")
def shifted(x):
    return x + torch.ones(2, dtype=torch.float32)


print(shifted(torch.ones(2)).tolist())
torch.set_default_dtype(torch.float64)
print(shifted(torch.ones(2, dtype=torch.float32)).tolist())  # cause
