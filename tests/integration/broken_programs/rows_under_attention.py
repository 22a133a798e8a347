"""Attention runs over the tokens that are kept, as many as a mask says.

kind: graph break
advice: keep all rows

Made after a pattern common in vision transformers that drop tokens.
"""

import torch
from torch import nn


class Pruned(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, keep):
        kept = x[keep][None]  # cause
        y = self.attention(kept, kept, kept, need_weights=False)[0]
        return y.sum(1)


torch.manual_seed(0)
model = torch.compile(Pruned(), backend="eager")
for _ in range(3):
    x = torch.randn(10, 8)
    print(round(model(x, x[:, 0] > -0.5).sum().item(), 2))
