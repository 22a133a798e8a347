"""The copy of an array with its axes changed is not in the order of rows.

An idea of our own.

kind: exception
stage: tracing
"""

import numpy as np
import torch


class Grid:
    def __init__(self, rows: int, columns: int) -> None:
        self.shape = (rows, columns)

    def cells(self):
        cells = np.arange(6.0).reshape(self.shape)
        return cells.T

    def packed(self):
        turned = self.cells()
        return turned.copy()  # cause


class Sampler:
    def __init__(self) -> None:
        self.grid = Grid(2, 3)

    def __call__(self, x):
        scale = x.mean()
        cells = torch.from_numpy(self.grid.packed())
        return cells.view(6) * scale


sampler = torch.compile(Sampler())
try:
    print(sampler(torch.ones(2, dtype=torch.float64)).tolist())
except RuntimeError:
    print("no view")
