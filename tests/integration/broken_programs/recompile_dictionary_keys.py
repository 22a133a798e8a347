"""A batch that has a further key in some calls.

kind: recompile
advice: same keys
"""

import torch


@torch.compile(backend="eager")
def total(batch):
    return sum(value.sum() for value in batch.values())  # cause


print(total({"x": torch.ones(4)}).item())
print(total({"x": torch.ones(4), "y": torch.ones(4)}).item())
