"""Inductor cannot lower the minima of an empty window along a dimension that is out of range.

After pytorch/pytorch#188224.
origin: graph
kind: exception
"""

import torch


@torch.compile
def smoothed(rows):
    window = torch.bartlett_window(0, periodic=False)
    least = torch.cummin(torch.clone(window), -46)[0]
    return rows.sin() + 1, least


smoothed(torch.randn(4))
