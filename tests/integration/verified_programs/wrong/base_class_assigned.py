"""What a function assigns to a base class is not what it reads from the class below.

An idea of our own.

kind: value
stage: tracing
"""

import torch


class Schedule:
    warmup = 1.0


class Cosine(Schedule):
    final = 0.25

    def rate(self, step: float) -> float:
        return self.warmup * step + self.final  # cause


def warmed(step: float) -> float:
    Schedule.warmup = 0.125
    return Cosine().rate(step)


class Step:
    def __init__(self) -> None:
        self.decay = 0.5

    def __call__(self, weights, gradients):
        gradients = gradients + self.decay * weights
        rate = warmed(2.0)
        return weights - rate * gradients


step = torch.compile(Step())
print(step(torch.ones(4), torch.arange(4.0)).tolist())
