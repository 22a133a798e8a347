"""An index below 0 is taken from the end.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def pick(x, index):
    return torch.index_select(x, 0, index)  # cause


try:
    print(pick(torch.arange(3.0), torch.tensor([-1])))
except Exception as error:
    print(type(error).__name__)
