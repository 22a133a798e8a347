"""A method that the class inherits is another one now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Base:
    def scaled(self, x):
        return x * 2


class Model(Base):
    pass


model = Model()


@torch.compile(backend="eager")
def step(x):
    return model.scaled(x)  # cause


print(step(torch.ones(2)))
Base.scaled = lambda self, x: x * 9
print(step(torch.ones(2)))
