"""A step of training gives its loss, as a number, to a meter that writes what it was given as text.

kind: graph break
advice: after the call of `step`

Made after a pattern common in timm and torchvision's references (meters of losses).
"""

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
        self.meter.update(loss.item())  # cause
        return loss + 1e-3 * self.model.weight.pow(2).sum()


torch.manual_seed(0)
trainer = Trainer(nn.Linear(4, 2))
step = torch.compile(trainer.step, backend="eager")
optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    step(torch.randn(5, 4), torch.randn(5, 2)).backward()
    optimizer.step()
print(trainer.meter.mean())
