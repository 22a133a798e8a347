"""A function that encloses another operator gets the first one's entry.

After pytorch/pytorch#197811.
kind: value
stage: guards
"""

import torch


def make(operator):
    def apply(x, y):
        return operator(x, y)  # cause

    return apply


x, y = torch.full((2,), 6.0), torch.full((2,), 3.0)
for operator in (torch.Tensor.__add__, torch.Tensor.__mul__):
    print(torch.compile(make(operator), backend="eager")(x, y))
