"""A class target out of range: IndexError of cross_entropy, and the step is skipped."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_step(x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for labels in ([0, 1, 2], [0, 1, 3], [0, -100, 2], [2, 2, -1]):
    try:
        print(labels, train_step(torch.randn(3, 4), torch.tensor(labels)))
    except IndexError as error:
        print(labels, type(error).__name__, error)
