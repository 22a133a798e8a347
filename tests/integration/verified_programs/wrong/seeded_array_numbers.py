"""numpy's generator, which the function seeds, gives other numbers: they are drawn by torch.

An idea of our own; torch's setting `use_numpy_random_stream` is off.
kind: value
stage: tracing
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def step(x):
    np.random.seed(0)
    return x * np.random.randint(100)  # cause


torch.manual_seed(0)
print(step(torch.ones(1)), step(torch.ones(1)))
