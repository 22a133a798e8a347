"""An input with a batch dimension, and one without.

kind: recompile
advice: unsqueeze
"""

import torch


@torch.compile(backend="eager")
def total(x):
    return x.sum(-1).sum()  # cause


for x in (torch.ones(4), torch.ones(1, 4)):
    print(total(x).item())
