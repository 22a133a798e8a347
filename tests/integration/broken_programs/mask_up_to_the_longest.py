"""A mask of as many places as the longest sequence has.

kind: graph break
advice: before the call

Made after a pattern common in speech models (sequence masks).
"""

import torch


@torch.compile(backend="eager")
def mask(lengths):
    places = torch.arange(lengths.max())  # cause
    return places[None] < lengths[:, None]


for lengths in ((1, 4), (2, 3), (5, 1)):
    print(mask(torch.tensor(lengths)).sum().item())
