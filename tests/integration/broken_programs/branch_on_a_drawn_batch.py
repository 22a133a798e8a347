"""A base class decides by a drawn tensor whether a batch is augmented.

kind: graph break
advice: torch.where

Made after https://github.com/kornia/kornia/pull/3793
"""

import torch


def gate(batch_prob, elem_prob):
    if batch_prob.sum() == 1:  # cause
        return elem_prob
    return torch.zeros_like(elem_prob)


@torch.compile(backend="eager")
def model(x, batch_prob):
    return x + gate(batch_prob, torch.ones_like(x))


for on in (0.0, 1.0, 1.0):
    print(model(torch.ones(3), torch.full((1,), on)).tolist())
