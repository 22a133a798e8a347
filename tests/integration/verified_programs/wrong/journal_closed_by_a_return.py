"""A function returns out of a loop over a generator, whose end counts what a later line reads.

An idea of our own.
kind: value
stage: tracing
"""

import torch
from torch import nn


class Journal:
    def __init__(self):
        self.closed = 0

    def rows(self, x):
        try:
            yield from x.unbind()
        finally:
            self.close()

    def close(self):
        self.closed += 1  # cause


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.journal = Journal()

    def first_row(self, h):
        for row in self.journal.rows(h):
            if row.shape[0] == 3:
                return row * 2
        return h[0]

    def forward(self, x):
        h = torch.tanh(self.lin(x))
        row = self.first_row(h)
        return (row * 0.5**self.journal.closed).sum()


torch.manual_seed(0)
run = torch.compile(First().requires_grad_(False), backend="eager")
print(run(torch.ones(2, 3)))
