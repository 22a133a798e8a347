"""A method of a class is another one now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Model:
    def scaled(self, x):
        return x * 2


model = Model()


@torch.compile(backend="eager")
def step(x):
    return model.scaled(x)  # cause


print(step(torch.ones(2)))
Model.scaled = lambda self, x: x * 9
print(step(torch.ones(2)))
