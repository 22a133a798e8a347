"""A norm that averages over all batches (`momentum=None`), as for averaged weights.

kind: graph break
advice: end the compiled function

Made after https://github.com/pytorch/pytorch/issues/31498
"""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.norm = nn.BatchNorm1d(width, momentum=None)
        self.last = nn.Linear(width, 2)

    def forward(self, x):
        x = self.first(x)
        x = self.norm(x)  # cause
        return self.last(torch.relu(x))


class Trainer:
    def __init__(self, model):
        self.model = model

    def train_step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        return loss * 2

    def fit(self, steps):
        step = torch.compile(self.train_step, backend="eager")
        for seed in range(steps):
            generator = torch.Generator().manual_seed(seed)
            x = torch.randn(6, 4, generator=generator)
            y = torch.randint(0, 2, (6,), generator=generator)
            loss = step(x, y)
            loss.backward()
            with torch.no_grad():
                for weight in self.model.parameters():
                    weight -= 0.01 * weight.grad
                    weight.grad = None
            print(seed, round(loss.item(), 4))


torch.manual_seed(0)
trainer = Trainer(Net())
trainer.fit(4)
