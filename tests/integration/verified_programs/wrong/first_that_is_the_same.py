"""Whether a tuple has a tensor is asked of its values, although the very tensor is there.

An idea of our own.

kind: exception
stage: tracing
"""

import torch
from torch import nn


class Slots:
    def __init__(self) -> None:
        self.filled = []

    def fill(self, value) -> None:
        self.filled.append(value)

    def place(self, value) -> int:
        known = value in tuple(self.filled)  # cause
        return 2 if known else 1


class Memory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        slots = Slots()
        first = torch.relu(self.lin(x))
        slots.fill(first)
        weight = slots.place(first)
        return first * weight


torch.manual_seed(0)
memory = torch.compile(nn.Sequential(Memory(), nn.Identity()))
try:
    print(memory(torch.ones(2, 3)).sum().item() > 0)
except RuntimeError:
    print("it cannot be told")
