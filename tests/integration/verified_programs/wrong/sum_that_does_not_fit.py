"""torch.addmm takes a term that is too large for the product.

After https://github.com/pytorch/pytorch/issues/195579
kind: exception
stage: decompositions
"""

import torch


@torch.compile
def step(term, first, second):
    return torch.addmm(term, first, second)  # cause


try:
    print(step(torch.ones(5, 1), torch.ones(1, 1), torch.ones(1, 1)))
except RuntimeError as error:
    print(type(error).__name__)
