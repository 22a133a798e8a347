"""A backend of the program's own gives what it computed for its example in every call.

An idea of our own.
kind: value
stage: remembering
"""

import torch


def remembering(gm, inputs):
    result = gm(*inputs)
    return lambda *args: result


@torch.compile(backend=remembering)
def step(x):
    return x * 2  # cause


print(step(torch.ones(2)), step(torch.zeros(2)))
