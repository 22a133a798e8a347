"""A search whose step raises at the end of each of 400 short walks, and an encoder with three lengths.

The step runs eager, and is small; the lengths compile an encoder of 60 operations again.
"""
# first: length
# cure length: import torch => import torch; torch.compiler.config.dynamic_sources = "L['x']:0"
# cure raises: raise Found(x) => return x

import torch


class Found(Exception):
    """The end of a walk."""


def walk(x):
    x = torch.cos(x) * x
    raise Found(x)  # cause: raises


def encode(x):
    for _ in range(30):
        x = torch.relu(x) + x.mean()  # cause: length
    return x


walked = torch.compile(walk, backend="aot_eager")
encoded = torch.compile(encode, backend="aot_eager")
for _ in range(400):
    try:
        walked(torch.ones(8, 8))
    except Found:
        pass
for length in (5, 6, 7):
    encoded(torch.ones(length, 16))
print("done")
