"""random and numpy.random inside forward: augmentations and layer drop, a new number in each call."""

import random

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
np.random.seed(0)


class LayerDrop(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            if random.random() < 0.5:
                x = layer(x)
        return x * random.uniform(0.5, 1.5)


def mixup(x):
    portion = np.random.beta(0.4, 0.4)
    return portion * x + (1 - portion) * x.flip(0), portion


model = LayerDrop()
for _ in range(5):
    print(model(torch.ones(1, 4)).sum().item(), mixup(torch.tensor([1.0, 3.0]))[0].tolist())
print(random.random(), np.random.rand(), random.randint(0, 100))
