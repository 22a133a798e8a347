"""A step of training updates an average of the weights, which asks whether it is the first one.

kind: fell back to eager
advice: out of the compiled code

Made after a pattern common in training with averaged weights (torch.optim.swa_utils).
"""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(4, width, bias=False)

    def forward(self, x):
        x = self.first(x)
        return torch.relu(x)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.averaged = AveragedModel(model)

    def train_step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.averaged.update_parameters(self.model)  # cause
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
print(round(sum(p.sum().item() for p in trainer.averaged.parameters()), 4))
