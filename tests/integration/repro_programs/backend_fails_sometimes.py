"""A backend of the user's raises one time in three.

origin: graph
kind: exception
"""

import os

import torch


def busy(gm, example_inputs):
    if any(node.target is torch.tanh for node in gm.graph.nodes) and os.urandom(1)[0] % 3 == 0:
        raise RuntimeError("the device is busy")
    return gm.forward


@torch.compile(backend=busy)
def step(rows):
    rows = rows.sum(0) + 2
    rows = torch.tanh(rows) * rows
    return rows.mean()


step(torch.randn(6, 3))
