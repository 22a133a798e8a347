"""A backend of the user's reads from the null pointer.

origin: graph
kind: crash
"""

import ctypes

import torch


def crashing(gm, example_inputs):
    if any(node.target is torch.tanh for node in gm.graph.nodes):
        ctypes.string_at(0)
    return gm.forward


@torch.compile(backend=crashing)
def step(rows):
    rows = rows.sum(0) + 2
    rows = torch.tanh(rows) * rows
    return rows.mean()


step(torch.randn(6, 3))
