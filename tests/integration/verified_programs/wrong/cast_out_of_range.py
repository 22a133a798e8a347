"""A number that is too large for int8 becomes the largest one.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def short(x):
    return x.to(torch.int8)  # cause


# Sixteen, as how one number alone is converted depends on the processor.
print(short(torch.full((16,), 1e10))[:2])
