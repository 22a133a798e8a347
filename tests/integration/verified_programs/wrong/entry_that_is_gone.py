"""An object that nothing refers to any more is still there for its weak reference.

An idea of our own, after reports of weak references under torch.compile.
kind: value
stage: tracing
"""

import weakref

import torch


class Workspace:
    def __init__(self, rows):
        self.rows = rows


class Pool:
    """Hands out work spaces, and keeps only weak references to them."""

    def __init__(self):
        self.given = None

    def take(self, rows):
        space = Workspace(rows)
        self.given = weakref.ref(space)
        return space

    def is_free(self):
        return self.given() is None  # cause


class Reducer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1.0, 1.0, 4))

    def rows(self, x, pool):
        space = pool.take(x.shape[0])
        x = x * space.rows
        del space
        return x

    def forward(self, x):
        pool = Pool()
        y = self.rows(x * self.weight, pool)
        if pool.is_free():
            y = y + 10.0
        return y.sum(dim=0)


model = torch.compile(Reducer(), backend="eager")
with torch.no_grad():
    print(model(torch.ones(3, 4)).tolist())
