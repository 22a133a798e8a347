"""An array of integers that is divided by zero raises; numpy gives 0 and a warning.

An idea of our own.
kind: exception
stage: tracing
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def step(values):
    return values // 0  # cause


try:
    print(step(np.array([1, 2])))
except RuntimeError as error:
    print(type(error).__name__)
