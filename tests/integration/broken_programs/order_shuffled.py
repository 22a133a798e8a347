"""An encoder reads its slots in an order that is drawn anew in each call.

kind: graph break
advice: as one tensor

Made after a pattern common in permuted language models (XLNet).
"""

import random

import torch
from torch import nn


class PermutedEncoder(nn.Module):
    def __init__(self, slots=4, dim=8):
        super().__init__()
        self.slots = slots
        self.proj = nn.Linear(dim, dim)
        self.pos = nn.Parameter(torch.randn(slots, dim))

    def _draw_order(self):
        order = list(range(self.slots))
        random.shuffle(order)  # cause
        return order

    def forward(self, x):
        x = self.proj(x) + self.pos
        order = self._draw_order()
        state = torch.zeros_like(x[:, 0])
        for i in order:
            state = torch.tanh(state * 0.5 + x[:, i])
        return state


torch.manual_seed(0)
random.seed(0)
net = torch.compile(PermutedEncoder(), backend="eager")
with torch.no_grad():
    for _ in range(5):
        print(f"{net(torch.randn(3, 4, 8)).sum().item():.4f}")
