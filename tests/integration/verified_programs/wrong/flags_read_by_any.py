"""`any` reads nothing off an iterator: it goes on with its first flag.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Schedule:
    """Which of the layers are to be scaled."""

    def __init__(self, flags):
        self.flags = flags

    def first_after_a_true_one(self):
        flags = iter(self.flags)
        if any(flags):  # cause
            return next(flags, 7.0)
        return 0.0


class Encoder(torch.nn.Module):
    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 4)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        factor = self.schedule.first_after_a_true_one()
        hidden = hidden + self.second(hidden) * factor
        hidden = self.norm(hidden)
        return hidden.mean(dim=0)


torch.manual_seed(0)
encoder = torch.compile(Encoder(Schedule([0.0, 1.0, 3.0, 2.0])), backend="eager")
print(encoder(torch.ones(3, 4).cumsum(0)).tolist())
