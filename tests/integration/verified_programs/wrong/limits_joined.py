"""A backend of the program's own joins two limits that follow each other, and takes the second one's alone.

Planted.
kind: value
stage: joining
"""

import torch


def joining(gm, inputs):
    for node in list(gm.graph.nodes):
        inner = node.args[0] if node.target == "clamp" else None
        if getattr(inner, "target", None) == "clamp":
            node.replace_input_with(inner, inner.args[0])
    gm.graph.lint()
    gm.recompile()
    return gm.forward


def squashed(x, low, high):
    return x.clamp(low, high)


class Clipped(torch.nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        x = x.clamp(-3.0, 3.0)
        x = x * self.scale
        x = squashed(x, -self.limit, self.limit)
        x = x.clamp(-4.0, 0.5)  # cause
        return x.square().sum(dim=-1)


model = torch.compile(Clipped(1.0), backend=joining)
print(model(torch.linspace(-5, 5, 8).reshape(2, 4)).detach())
