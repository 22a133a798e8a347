"""A print inside a context that torch does not know how to leave and enter again.

kind: fell back to eager
advice: reorderable_logging_functions
"""

import contextlib

import torch


@contextlib.contextmanager
def scope(name):
    yield name


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    with scope("inner"):
        y = y * 2
        print("inside")  # cause
        y = y + 1
    return y.cos()


print(model(torch.ones(3)).tolist())
