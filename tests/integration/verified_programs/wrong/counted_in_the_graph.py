"""A function that is put into the graph as it is counts its calls: while tracing it is called once more.

An idea of our own, after PyTorch's page on torch.compiler.allow_in_graph.
kind: mutation
stage: tracing
"""

import torch


class Meter:
    def __init__(self):
        self.calls = 0


meter = Meter()


def measured(x, scale):
    meter.calls += 1  # cause
    return x * scale


torch.compiler.allow_in_graph(measured)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.norm = torch.nn.LayerNorm(3)

    def forward(self, x):
        x = self.inner(x)
        x = measured(x, 0.5)
        x = self.norm(x)
        return x.relu()


torch.manual_seed(0)
block = torch.compile(Block(), backend="eager")
for _ in range(2):
    block(torch.ones(2, 3))
print(meter.calls)
