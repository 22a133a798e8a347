"""A trainer gives training one thread, and evaluation two.

kind: recompile
advice: set it once

Made after https://github.com/pytorch/pytorch/pull/170585
"""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def prepared(seed, rows=8):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 4, generator=generator)
    return x, x.sum(-1).sin()


class Trainer:
    def __init__(self, model):
        self.model = torch.compile(model, backend="eager")
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def fit(self, steps):
        torch.set_num_threads(1)
        for seed in range(steps):
            x, y = prepared(seed)
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()

    def evaluate(self):
        torch.set_num_threads(2)
        x, y = prepared(99)
        return nn.functional.mse_loss(self.model(x), y).item()  # cause


torch.manual_seed(0)
trainer = Trainer(Model())
for epoch in range(2):
    trainer.fit(3)
    print(epoch, round(trainer.evaluate(), 4))
