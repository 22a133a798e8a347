"""Two threads train a model each, a third only calls one; results do not depend on who was first."""

import threading

import torch
from torch import nn

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)) for _ in range(3)]
data = torch.randn(8, 3)
results = {}


def loss_of(model, x):
    return model(x).pow(2).mean()


def train(index):
    optimizer = torch.optim.SGD(models[index].parameters(), lr=0.1)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = loss_of(models[index], data)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    results[index] = losses


def infer(index):
    with torch.no_grad():
        results[index] = [loss_of(models[index], data * i).item() for i in range(4)]


threads = [threading.Thread(target=target, args=(i,)) for i, target in enumerate((train, train, infer))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
