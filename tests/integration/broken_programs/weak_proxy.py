"""A module that asks its owner by a weak proxy.

kind: fell back to eager
advice: weakref.ref

Made after a pattern common in Lightning (weak references to the trainer).
"""

import weakref

import torch


class Trainer:
    scale = 2.0


class Model(torch.nn.Module):
    def __init__(self, trainer):
        super().__init__()
        self.trainer = weakref.proxy(trainer)

    def forward(self, x):
        y = x.sin()
        return y * self.trainer.scale  # cause


trainer = Trainer()
model = torch.compile(Model(trainer), backend="eager")
for _ in range(3):
    print(model(torch.ones(2)).tolist())
