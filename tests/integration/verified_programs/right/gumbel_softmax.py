"""Samples by noise that is added to logits."""

import torch
import torch.nn.functional as F


@torch.compile
def step(logits):
    return F.gumbel_softmax(logits, tau=0.5, hard=True)


torch.manual_seed(0)
for _ in range(3):
    print(step(torch.zeros(3, 5)).sum().item())
