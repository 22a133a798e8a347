"""A class is registered with an abstract one after the first call.

An idea of our own.
kind: value
stage: guards
"""

import abc

import torch

Scaled = abc.ABCMeta("Scaled", (), {"factor": 5})


class Model:
    pass


model = Model()


@torch.compile(backend="eager")
def step(x):
    if isinstance(model, Scaled):  # cause
        x = x * Scaled.factor
    return x + 1


print(step(torch.ones(2)))
Scaled.register(Model)
print(step(torch.ones(2)))
