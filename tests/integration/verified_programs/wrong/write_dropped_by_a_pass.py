"""A pass of the program's own removes what Inductor writes back to a buffer at the end.

Planted.
kind: mutation
stage: inductor
"""

import torch
import torch._inductor.config

aten = torch.ops.aten


def without_small_copies(graph):
    for node in list(graph.nodes):
        if node.target is aten.copy_.default and node.meta["val"].numel() == 1:
            node.replace_all_uses_with(node.args[1])
            graph.erase_node(node)


torch._inductor.config.post_grad_custom_post_pass = without_small_copies


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.zeros(1))

    def note(self, x):
        self.mean.lerp_(x.mean(dim=0), 0.1)
        self.count.add_(x.shape[0])  # cause
        return self.mean + 1.0

    def forward(self, x):
        x = x.relu()
        return self.note(x) * 2.0


counted = Counted()
step = torch.compile(counted)
step(torch.ones(3, 4))
print(counted.mean, counted.count)
