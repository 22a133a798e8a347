"""An index below 0 is taken from the end.

After pytorch/pytorch#185885.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def add(x, index, rows):
    return torch.index_add(x, 0, index, rows)  # cause


try:
    print(add(torch.zeros(3), torch.tensor([0, -1]), torch.ones(2)))
except Exception as error:
    print(type(error).__name__)
