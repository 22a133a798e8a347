"""A backend of the program's own takes two buffers of zeros for one, and both are written.

Planted.

kind: value
stage: sharing_equal_calls
"""

import torch
from torch import nn


def sharing_equal_calls(gm, example_inputs):
    known = {}
    for node in list(gm.graph.nodes):
        if node.op != "call_function":
            continue
        key = (node.target, node.args, tuple(node.kwargs.items()))
        if key in known:
            node.replace_all_uses_with(known[key])
            gm.graph.erase_node(node)
        else:
            known[key] = node
    gm.recompile()
    return gm.forward


class Meter(nn.Module):
    """Sums of what is positive, and of what is negative."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = 2.0

    def split(self, x):
        up = torch.zeros(4)
        down = torch.zeros(4)  # cause
        up += x.clamp(min=0)
        down += x.clamp(max=0)
        return up, down

    def forward(self, x):
        x = x * self.scale
        up, down = self.split(x)
        return up - down


meter = torch.compile(Meter(), backend=sharing_equal_calls)
print(meter(torch.tensor([1.0, -2.0, 3.0, -4.0])).tolist())
