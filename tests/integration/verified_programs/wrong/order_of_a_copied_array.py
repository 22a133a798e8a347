"""The copy of an array that was made column by column is not in the order of rows.

An idea of our own.

kind: exception
stage: tracing
"""

import numpy as np
import torch


def columns(values):
    table = np.arange(6.0).reshape(2, 3, order="F")
    return table * 2 + values


def packed(table):
    return torch.from_numpy(table.copy())  # cause


@torch.compile
def flat(x):
    table = columns(1.0)
    tensor = packed(table)
    return tensor.view(-1) * x


try:
    print(flat(torch.ones(6, dtype=torch.float64)).tolist())
except RuntimeError:
    print("no view")
