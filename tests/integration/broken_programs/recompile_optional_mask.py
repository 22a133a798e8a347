"""A mask that is None in some calls.

kind: recompile
advice: None
"""

import torch


@torch.compile(backend="eager")
def masked(x, mask=None):
    return x * 2 if mask is None else x * 2 * mask  # cause


print(masked(torch.ones(4)).tolist())
print(masked(torch.ones(4), torch.ones(4)).tolist())
