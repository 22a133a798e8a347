"""Outputs as dict, OrderedDict, dataclass, namedtuple, nested lists, with None and numbers among them."""

import collections
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import nn

torch.manual_seed(0)
linear = nn.Linear(3, 2)


@dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor | None = None
    extra: dict = field(default_factory=dict)


class Pair(NamedTuple):
    value: torch.Tensor
    index: int


class Result(collections.OrderedDict):
    def __getattr__(self, name):
        return self[name]


def compute(x, y=None):
    logits = linear(x)
    loss = None if y is None else nn.functional.cross_entropy(logits, y)
    return Output(logits, loss, {"max": logits.max(), "n": x.shape[0]})


def pair(x):
    values, indices = x.max(0)
    return Pair(values, x.dim()), [values, (indices, None)], Result(best=values.sum(), name="x")


x = torch.randn(4, 3)
out = compute(x)
print(type(out).__name__, out.loss, out.logits.tolist(), sorted(out.extra), out.extra["n"])
out = compute(x, torch.tensor([0, 1, 1, 0]))
out.loss.backward()
print(out.loss.item(), linear.weight.grad.tolist(), out == out)
p, nested, result = pair(x)
print(type(p).__name__, p.index, p.value.tolist(), nested[1][1], nested[0] is p.value)
print(type(result).__name__, result.best.item(), result.name, list(result))
print(type(x.max(0)).__name__, type(torch.linalg.qr(x)).__name__)
