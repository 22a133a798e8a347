"""A default device that is set between calls.

kind: recompile
advice: default device
"""

import torch


@torch.compile(backend="eager")
def shifted(x):
    return x + torch.ones(2, device="cpu")


print(shifted(torch.ones(2)).tolist())
torch.set_default_device("cpu")
print(shifted(torch.ones(2)).tolist())  # cause
