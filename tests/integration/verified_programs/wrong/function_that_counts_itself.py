"""A function that counts its calls in an attribute, which it has from the first call on, counts no further.

An idea of our own.
kind: value
stage: guards
"""

import torch


def scaled(x):
    scaled.calls = getattr(scaled, "calls", 0) + 1  # cause
    return x * scaled.calls


step = torch.compile(scaled, backend="eager")
print(step(torch.ones(2)), step(torch.ones(2)), scaled.calls)
