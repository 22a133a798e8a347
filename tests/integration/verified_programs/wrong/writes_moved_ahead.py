"""A backend of the program's own moves what is written in place to the front, before what reads it.

Planted.
kind: value
stage: hoisting
"""

import torch


def hoisting(gm, inputs):
    """Put each write as early as its arguments are there."""
    nodes = list(gm.graph.nodes)
    for node in nodes:
        if node.op == "call_method" and node.target.endswith("_"):
            known = max(node.all_input_nodes, key=nodes.index)
            known.append(node)
    gm.recompile()
    return gm.forward


class Tracker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(4))
        self.rate = 0.25

    def surprise(self, x):
        return (x - self.mean).square()

    def forward(self, x):
        level = x.mean(dim=0)
        surprise = self.surprise(x)
        total = surprise.sum(dim=0)
        self.mean.lerp_(level, self.rate)  # cause
        return total / (1.0 + level.abs())


tracker = torch.compile(Tracker(), backend=hoisting)
print(tracker(torch.arange(8.0).reshape(2, 4)))
