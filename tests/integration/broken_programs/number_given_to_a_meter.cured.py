"""The same, cured."""

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.count, self.total = 0, 0.0

    def update(self, value):
        self.count += 1
        self.total += float(f"{value:.3f}")

    def mean(self):
        return round(self.total / self.count, 3)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.meter = Meter()

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        return loss + 1e-3 * self.model.weight.pow(2).sum(), loss


torch.manual_seed(0)
trainer = Trainer(nn.Linear(4, 2))
step = torch.compile(trainer.step, backend="eager")
optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss, error = step(torch.randn(5, 4), torch.randn(5, 2))
    loss.backward()
    trainer.meter.update(error.item())
    optimizer.step()
print(trainer.meter.mean())
