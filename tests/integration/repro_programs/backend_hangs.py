"""A backend of the user's does not end where a graph has a sigmoid.

origin: graph
kind: hang
"""

import time

import torch


def endless(gm, example_inputs):
    while any(node.target is torch.sigmoid for node in gm.graph.nodes):
        time.sleep(0.1)
    return gm.forward


@torch.compile(backend=endless)
def step(rows):
    rows = rows.cos() * 2
    return torch.sigmoid(rows).mean() - rows.sum()


step(torch.randn(6, 3))
