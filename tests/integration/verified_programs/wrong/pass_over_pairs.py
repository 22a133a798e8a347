"""A pass of the program's own makes one operation of two that follow each other, and a wrong one.

Planted.
kind: value
stage: inductor
"""

import torch
import torch._inductor.config

aten = torch.ops.aten


def join_scalings(graph):
    """(x * a) * b as x * (a + b)."""
    for node in list(graph.nodes):
        if node.target is not aten.mul.Tensor or not isinstance(node.args[1], float):
            continue
        inner = node.args[0]
        if inner.target is aten.mul.Tensor and isinstance(inner.args[1], float):
            node.args = (inner.args[0], inner.args[1] + node.args[1])
    graph.eliminate_dead_code()


torch._inductor.config.post_grad_custom_pre_pass = join_scalings


def normalized(x):
    return x / (x.abs().amax() + 1.0)


class Mixer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 0.7

    def forward(self, x, y):
        x = normalized(x) * 0.5
        y = torch.sin(y) * 1.5
        x = x + y
        x = x * self.gain
        x = x * 3.0  # cause
        return x - y.mean()


mixer = torch.compile(Mixer())
print(mixer(torch.arange(4.0), torch.ones(4)))
