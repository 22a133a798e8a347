"""The class has another base class now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class First:
    def scale(self):
        return 2.0


class Second:
    def scale(self):
        return 9.0


class Model(First):
    pass


model = Model()


@torch.compile(backend="eager")
def step(x):
    return x * model.scale()  # cause


print(step(torch.ones(2)))
Model.__bases__ = (Second,)
print(step(torch.ones(2)))
