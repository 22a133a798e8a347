"""Operators that check values as they run: multinomial, one_hot, bincount, split, binary_cross_entropy."""

import torch
from torch import nn


def sampled(x):
    return torch.multinomial(x, 1)


def one_hot(x):
    return nn.functional.one_hot(x.long(), 3)


def counted(x):
    return torch.bincount(x.long())


def cross_entropy(x):
    return nn.functional.binary_cross_entropy(x, torch.ones_like(x))


def nll(x):
    return nn.functional.nll_loss(torch.zeros(2, 3), x.long())


def parts(x):
    return x.split(x.long().tolist())


def repeated(x):
    return torch.repeat_interleave(x, x.long())


good, bad = torch.tensor([1.0, 1.0]), torch.tensor([-1.0, 7.0])
for function in (sampled, one_hot, counted, cross_entropy, nll, parts, repeated):
    for x in (good, bad, good):
        torch.manual_seed(0)
        try:
            out = function(x)
            print(function.__name__, out.tolist() if torch.is_tensor(out) else [t.tolist() for t in out])
        except (RuntimeError, IndexError, ValueError) as error:
            print(function.__name__, type(error).__name__, str(error).splitlines()[0])
