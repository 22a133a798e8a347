"""Two keys that say that they are equal become two entries.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return True


@torch.compile(backend="eager")
def step(x, first, second):
    entries = {first: 1.0}
    entries[second] = 2.0  # cause
    return x * len(entries)


print(step(torch.ones(2), Key("a"), Key("b")))
