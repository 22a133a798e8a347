"""Callables: __call__, functools.partial, closures, decorators, properties, static and class methods."""

import functools

import torch
from torch import nn

torch.manual_seed(0)


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    @property
    def doubled(self):
        return self.factor * 2

    def __call__(self, x):
        return x * self.doubled

    @classmethod
    def of(cls, x):
        return cls(x.mean())

    @staticmethod
    def shift(x):
        return x + 1


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def weigh(x, *others, bias=0.0, **named):
    return x + sum(others) + bias + sum(named.values())


def accumulator():
    total = torch.zeros(2)

    def add(x):
        nonlocal total
        total = total + x
        return total

    return add


x = torch.tensor([1.0, 2.0])
scaler = Scaler(3.0)
print(scaler(x).tolist(), Scaler.of(x)(x).tolist(), Scaler.shift(x).tolist())
scaler.factor = 5.0
print(scaler(x).tolist(), weigh(x, x, bias=1.0, c=x).tolist(), weigh(x).tolist(), weigh.calls, weigh.__name__)
add = accumulator()
print([add(x).tolist() for _ in range(3)], functools.partial(weigh, bias=2.0)(x).tolist())
print(functools.reduce(lambda a, b: a @ b, [torch.eye(2) * i for i in (1, 2, 3)]).tolist())
print([row.tolist() for row in map(torch.exp, nn.Linear(2, 2)(torch.ones(2, 2)))])
