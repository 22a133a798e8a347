"""A pass of the program's own draws a factor through a relu, also one below zero.

Planted.

kind: value
stage: inductor
"""

import torch
import torch._inductor.config
from torch import nn


def scale_behind(graph):
    """relu(x * s) becomes relu(x) * s: there is one kernel less."""
    aten = torch.ops.aten
    for relu in list(graph.find_nodes(op="call_function", target=aten.relu.default)):
        scaled = relu.args[0]
        if scaled.target is not aten.mul.Tensor or not isinstance(scaled.args[1], float):
            continue
        with graph.inserting_after(relu):
            first = graph.call_function(aten.relu.default, (scaled.args[0],))
        with graph.inserting_after(first):
            both = graph.call_function(aten.mul.Tensor, (first, scaled.args[1]))
        first.meta, both.meta = dict(relu.meta), dict(relu.meta)
        relu.replace_all_uses_with(both)
        graph.erase_node(relu)


torch._inductor.config.post_grad_custom_pre_pass = scale_behind


class Gate(nn.Module):
    def __init__(self, width: int, factor: float) -> None:
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.factor = factor

    def open(self, x):
        return torch.relu(x * self.factor)

    def closed(self, x):
        flipped = x * -self.factor
        return torch.relu(flipped)  # cause

    def forward(self, x):
        x = self.lin(x)
        first = self.open(x)
        x = torch.sigmoid(first) + x
        return x * self.closed(x)


torch.manual_seed(0)
compiled = torch.compile(nn.Sequential(Gate(4, 0.5), nn.Linear(4, 2)))
with torch.no_grad():
    print([round(each, 4) for each in compiled(torch.randn(3, 4)).flatten().tolist()])
