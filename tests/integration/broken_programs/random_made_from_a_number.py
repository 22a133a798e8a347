"""A generator of Python's is made from a number that was drawn.

kind: compiler error
advice: pass in

Made after https://github.com/pytorch/pytorch/pull/133725
"""

import random

import torch


@torch.compile(backend="eager")
def model(x):
    x = x.sin()
    drawn = random.Random(random.randint(0, 100))  # cause
    return x + 0 * drawn.randrange(10)


for _ in range(3):
    try:
        print(model(torch.ones(3)).tolist())
    except Exception:
        print(torch.ones(3).sin().tolist())
