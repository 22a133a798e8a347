"""The logarithm of integers of 16 bits has another dtype than numpy's, among right functions of numpy.

An idea of our own.
kind: dtype
stage: tracing
"""

import numpy as np
import torch


class Meter:
    def __init__(self, floor):
        self.floor = floor

    def level(self, samples):
        loud = np.abs(samples) + self.floor
        return np.log(loud)  # cause

    def summary(self, samples):
        level = self.level(samples)
        return level - level.max(), level.mean()


meter = Meter(np.int16(1))


@torch.compile(backend="eager")
def measure(x):
    samples = x.numpy()
    level, mean = meter.summary(samples)
    return torch.as_tensor(level), torch.as_tensor(mean)


level, mean = measure(torch.arange(6, dtype=torch.int16) * 100)
print(level.dtype, mean.dtype)
