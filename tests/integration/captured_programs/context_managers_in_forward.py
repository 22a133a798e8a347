"""forward enters context managers of the program's own, which count, swap attributes and clean up."""

import contextlib

import torch
from torch import nn

torch.manual_seed(0)
log = []


@contextlib.contextmanager
def scaled(module, factor):
    before = module.factor
    module.factor = factor
    log.append("enter")
    try:
        yield module
    finally:
        module.factor = before
        log.append("exit")


class Timer:
    def __enter__(self):
        log.append("start")
        return self

    def __exit__(self, kind, value, traceback):
        log.append(kind.__name__ if kind else "stop")
        return kind is ZeroDivisionError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.factor = nn.Linear(2, 2), 1.0

    def forward(self, x, divisor=1):
        with Timer(), scaled(self, 3.0):
            h = self.linear(x) * self.factor
            h = h + 1 // divisor
        return h * self.factor if divisor else x


model = Net()
print(model(torch.ones(1, 2)).tolist(), model.factor, log)
log.clear()
try:
    print(model(torch.ones(1, 2), 0).tolist())
except UnboundLocalError as error:
    print(type(error).__name__)
print(model.factor, log)
log.clear()
try:
    model(torch.ones(1, 3))
except RuntimeError as error:
    print(type(error).__name__, error, model.factor, log)
