"""An index below 0 is taken from the end.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def put(x, index):
    return torch.index_copy(x, 0, index, torch.full((1,), 5.0)), torch.index_fill(x, 0, index, 3)  # cause


try:
    print(put(torch.arange(3.0), torch.tensor([-1])))
except Exception as error:
    print(type(error).__name__)
