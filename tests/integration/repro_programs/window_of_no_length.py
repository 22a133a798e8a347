"""Inductor cannot lower a maximum of an empty window.

After pytorch/pytorch#188224.
origin: graph
kind: exception
"""

import torch


@torch.compile
def smoothed(rows):
    window = torch.bartlett_window(0, periodic=False)
    largest = torch.cummin(torch.clone(window), -1)[0]
    return rows.sin() + 1, largest


smoothed(torch.randn(4))
