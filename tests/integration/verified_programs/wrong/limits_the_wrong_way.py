"""A ValueError becomes a RuntimeError.

An idea of our own.
kind: exception
stage: tracing
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def step(x):
    return torch.nn.functional.hardtanh(x, 2.0, -2.0)  # cause


try:
    print(step(torch.arange(3.0)))
except Exception as error:
    print(type(error).__name__)
