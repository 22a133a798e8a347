"""torch.nn.utils.prune masks weights by hooks, the model trains on, and the masks become permanent."""

import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
x, y = torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])


def train(steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


print(train(2))
prune.l1_unstructured(model[0], "weight", amount=0.5)
print(train(2), int((model[0].weight == 0).sum()), model[0].weight.requires_grad)
prune.remove(model[0], "weight")
print(train(1), int((model[0].weight == 0).sum()), sorted(model.state_dict()))
