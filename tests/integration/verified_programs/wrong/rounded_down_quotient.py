"""The quotient of an infinite number is infinite, not nan.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def quotient(a, b):
    return torch.div(a, b, rounding_mode="floor")  # cause


print(quotient(torch.tensor([float("inf"), 5.0]), torch.tensor([2.0, 2.0])))
