"""A file is read inside.

kind: graph break
advice: before
"""

import os

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    file = open(os.devnull)  # cause
    text = file.read()
    file.close()
    return y * (1 + len(text))


print(scaled(torch.ones(2)).tolist())
