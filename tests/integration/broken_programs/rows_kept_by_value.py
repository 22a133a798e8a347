"""Rows are kept, one by one, where their value says so.

kind: fell back to eager
advice: the condition for all of them at once
"""

import torch


@torch.compile(backend="eager")
def kept(scores, rows):
    scores = scores.sigmoid()
    found = []
    for i in range(rows.shape[0]):
        if scores[i] > 0.5:  # cause
            found.append(rows[i] * scores[i])
    return torch.stack(found).sum(0)


for seed in range(3):
    torch.manual_seed(seed)
    print(kept(torch.randn(6), torch.randn(6, 2)).tolist())
