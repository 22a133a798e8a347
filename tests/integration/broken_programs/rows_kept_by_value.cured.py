"""The condition is a mask, which is applied after the call."""

import torch


@torch.compile(backend="eager")
def kept(scores, rows):
    scores = scores.sigmoid()
    return rows * scores[:, None], scores > 0.5


for seed in range(3):
    torch.manual_seed(seed)
    found, mask = kept(torch.randn(6), torch.randn(6, 2))
    print(found[mask].sum(0).tolist())
