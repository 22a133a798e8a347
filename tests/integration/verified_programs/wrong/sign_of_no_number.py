"""The sign of what is no number is 0 instead of nan in a function of numpy's.

An idea of our own.

kind: value
stage: tracing
"""

import numpy as np
import torch


def returns(prices):
    changes = np.diff(prices)
    return changes / prices[:-1]


def direction(changes):
    smooth = changes / np.abs(changes).max()
    signs = np.sign(smooth)  # cause
    return np.where(signs > -1.0, signs, 5.0)


@torch.compile
def signal(prices):
    changes = returns(prices)
    moved = direction(changes)
    return moved * 2 - 1


print(signal(np.array([1.0, 2.0, 0.5, np.nan, 4.0])))
