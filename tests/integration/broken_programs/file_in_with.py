"""A file is read by `with open`.

kind: fell back to eager
advice: read the file before
"""

import os

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    with open(os.devnull) as file:  # cause
        text = file.read()
    return y * (1 + len(text))


print(scaled(torch.ones(2)).tolist())
