"""The class has a method of its own now, in place of its base's.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Base:
    def scale(self):
        return 2.0


class Model(Base):
    pass


model = Model()


@torch.compile(backend="eager")
def step(x):
    return x * model.scale()  # cause


print(step(torch.ones(2)))
Model.scale = lambda self: 9.0
print(step(torch.ones(2)))
