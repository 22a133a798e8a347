"""Statistics of another dtype are taken.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def norm(x, mean, var):
    return torch.nn.functional.batch_norm(x, mean, var)  # cause


try:
    print(norm(torch.ones(2, 4, dtype=torch.float64), torch.ones(4), torch.ones(4)).dtype)
except RuntimeError as error:
    print(type(error).__name__)
