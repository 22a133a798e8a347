"""Weak references to what the program keeps, and to what it lets go between calls."""

import weakref

import torch


class Workspace:
    def __init__(self, rows):
        self.rows = rows


class Pool:
    def __init__(self):
        self.kept = []
        self.given = None

    def take(self, rows):
        self.kept.append(Workspace(rows))
        self.given = weakref.ref(self.kept[-1])
        return self.kept[-1]

    def is_free(self):
        return self.given() is None


class Reducer(torch.nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1.0, 1.0, 4))
        self.pool = pool

    def forward(self, x):
        y = x * self.weight
        if self.pool.is_free():
            y = y + 10.0
        return y.sum(dim=0)


pool = Pool()
space = pool.take(3.0)
model = torch.compile(Reducer(pool), backend="eager")
with torch.no_grad():
    print(model(torch.ones(3, 4)).tolist())
    del space
    pool.kept.clear()
    print(model(torch.ones(3, 4)).tolist())
