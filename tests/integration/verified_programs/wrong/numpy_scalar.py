"""The sum of an array is an array without dimensions instead of a number of NumPy's.

An idea of our own.
kind: structure
stage: tracing
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def step(values):
    twice = values * 2
    return np.sum(twice)  # cause


print(type(step(np.arange(3.0))).__name__)
