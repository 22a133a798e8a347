"""A generator of Python's is made from a number that was drawn.

kind: compiler error
advice: pass in

Made after https://github.com/pytorch/pytorch/pull/133725
"""

import random

import torch


@torch.compile(backend="eager")
def model(x, number):
    x = x.sin()
    return x + 0 * number


for _ in range(3):
    try:
        print(model(torch.ones(3), torch.tensor(random.randrange(10))).tolist())
    except Exception:
        print(torch.ones(3).sin().tolist())
