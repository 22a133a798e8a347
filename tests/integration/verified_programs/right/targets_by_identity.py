"""Whether a tensor is in a list is asked by identity."""

import torch


class Tape:
    def __init__(self):
        self.seen = []

    def note(self, value):
        self.seen.append(value)
        return value

    def has(self, value):
        return any(each is value for each in self.seen)


@torch.compile
def step(x, y):
    tape = Tape()
    hidden = tape.note(x + y)
    other = x * y
    return hidden * (2 if tape.has(hidden) else 3) + other * (5 if tape.has(other) else 7)


print(step(torch.ones(3), torch.arange(3.0)).tolist())
