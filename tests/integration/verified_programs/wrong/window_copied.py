"""The copy of a queue with a limit has none.

An idea of our own.
kind: value
stage: tracing
"""

from collections import deque

import torch


class Window:
    def __init__(self, size):
        self.recent = deque([0.0], maxlen=size)

    def preview(self, values):
        recent = self.recent.copy()  # cause
        for value in values:
            recent.append(value)
        return recent

    def mean(self, values):
        recent = self.preview(values)
        return sum(recent) / len(recent)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.window = Window(2)

    def forward(self, x):
        x = torch.tanh(x)
        mean = self.window.mean([1.0, 2.0, 6.0])
        return x * mean


print(torch.compile(Scaled(), backend="eager")(torch.ones(2)))
