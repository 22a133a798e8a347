"""A backend of the program's own removes operations whose result is unused, and writes among them.

Planted.
kind: mutation
stage: tidying
"""

import torch


def tidying(graph, inputs):
    """Removes what nobody reads."""
    for node in reversed(graph.graph.nodes):
        if node.op in ("call_function", "call_method") and not node.users:
            graph.graph.erase_node(node)
    graph.recompile()
    return graph.forward


class Tracker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.register_buffer("largest", torch.zeros(3))

    def observe(self, y):
        peak = y.detach().abs().amax(dim=0)
        self.largest.copy_(torch.maximum(self.largest, peak))  # cause

    def forward(self, x):
        y = self.inner(x)
        self.observe(y)
        z = torch.tanh(y)
        return z * 2.0


torch.manual_seed(0)
tracker = Tracker()
compiled = torch.compile(tracker, backend=tidying)
for step in range(2):
    compiled(torch.ones(2, 3) * (step + 1))
print(tracker.largest.tolist())
