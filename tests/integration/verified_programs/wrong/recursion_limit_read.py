"""A setting of the interpreter that a function returns is kept.

An idea of our own.
kind: value
stage: guards
"""

import sys

import torch


@torch.compile(backend="eager")
def step(x):
    return x + sys.getrecursionlimit()  # cause


print(step(torch.ones(2)))
sys.setrecursionlimit(sys.getrecursionlimit() + 100)
print(step(torch.ones(2)))
