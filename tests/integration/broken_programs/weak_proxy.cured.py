import weakref

import torch


class Trainer:
    scale = 2.0


class Model(torch.nn.Module):
    def __init__(self, trainer):
        super().__init__()
        self.trainer = weakref.ref(trainer)

    def forward(self, x):
        y = x.sin()
        return y * self.trainer().scale


trainer = Trainer()
model = torch.compile(Model(trainer), backend="eager")
for _ in range(3):
    print(model(torch.ones(2)).tolist())
