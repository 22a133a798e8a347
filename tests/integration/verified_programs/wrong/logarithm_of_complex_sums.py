"""The decomposition does not compile.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def add(x):
    return torch.logaddexp(x, x)  # cause


try:
    print(add(torch.ones(2, dtype=torch.complex64)))
except Exception as error:
    print(type(error).__name__)
