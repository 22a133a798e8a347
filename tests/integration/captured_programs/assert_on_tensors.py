"""Asserts on tensors raise AssertionError with the program's own words, and the program catches it."""

import torch


def plain(x):
    assert (x > 0).all()
    return x.log()


def worded(x):
    assert (x > 0).all(), "only positive numbers have a logarithm"
    return x.log()


def formatted(x):
    assert x.min() > 0, f"shape {tuple(x.shape)} has {int((x <= 0).sum())} that are not positive"
    return x.log()


for check in (plain, worded, formatted):
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([1.0, -2.0]), torch.tensor([3.0, 0.5])):
        try:
            print(check.__name__, check(x).tolist())
        except AssertionError as error:
            print(check.__name__, type(error).__name__, repr(str(error)))
