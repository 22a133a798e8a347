"""A function that asks for the default device.

kind: graph break
advice: `x.device`
"""

import torch


@torch.compile(backend="eager")
def padded(x):
    y = x * 2
    return torch.cat([y, torch.zeros(3, device=torch.get_default_device())])  # cause


print(padded(torch.ones(3)).tolist())
