"""An encoder reads its slots in an order that is drawn anew in each call: cured."""

import random

import torch
from torch import nn


class PermutedEncoder(nn.Module):
    def __init__(self, slots=4, dim=8):
        super().__init__()
        self.slots = slots
        self.proj = nn.Linear(dim, dim)
        self.pos = nn.Parameter(torch.randn(slots, dim))

    def draw_order(self):
        order = list(range(self.slots))
        random.shuffle(order)
        return torch.tensor(order)

    def forward(self, x, order):
        x = self.proj(x) + self.pos
        state = torch.zeros_like(x[:, 0])
        for each in x[:, order].unbind(1):
            state = torch.tanh(state * 0.5 + each)
        return state


torch.manual_seed(0)
random.seed(0)
encoder = PermutedEncoder()
net = torch.compile(encoder, backend="eager")
with torch.no_grad():
    for _ in range(5):
        print(f"{net(torch.randn(3, 4, 8), encoder.draw_order()).sum().item():.4f}")
