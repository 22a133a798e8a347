"""Whether a tensor is in a list is asked of its values, although it is there itself.

An idea of our own.

kind: exception
stage: tracing
"""

import torch


class Tape:
    def __init__(self) -> None:
        self.seen = []

    def note(self, value) -> None:
        self.seen.append(value)

    def has(self, value) -> bool:
        return value in self.seen  # cause


class Model:
    def __init__(self, weight) -> None:
        self.weight = weight

    def __call__(self, x):
        tape = Tape()
        hidden = torch.tanh(x @ self.weight)
        tape.note(hidden)
        if tape.has(hidden):
            hidden = hidden * 2
        return hidden.sum()


model = torch.compile(Model(torch.eye(3)))
try:
    print(model(torch.ones(2, 3)).item())
except RuntimeError:
    print("it cannot be told")
