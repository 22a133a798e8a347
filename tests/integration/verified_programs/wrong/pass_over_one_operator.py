"""A pass of the program's own changes the order of a subtraction.

Planted.
kind: value
stage: inductor
"""

import torch
import torch._inductor.config

aten = torch.ops.aten


def number_first(graph):
    """x - y as y - x where y has one dimension."""
    for node in graph.nodes:
        if node.target is aten.sub.Tensor and node.args[1].meta["val"].dim() == 1:
            node.args = (node.args[1], node.args[0])


torch._inductor.config.post_grad_custom_post_pass = number_first


def centered(x):
    return x - x.mean(dim=-1, keepdim=True)


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4))
        self.threshold = torch.nn.Parameter(torch.tensor([0.1, 0.2, 0.4]))

    def forward(self, x):
        x = centered(x)
        scores = torch.nn.functional.linear(x, self.weight)
        above = scores - self.threshold  # cause
        gated = torch.relu(above) * scores
        return gated - gated.sum(dim=-1, keepdim=True)


scorer = torch.compile(Scorer())
print(scorer(torch.arange(8.0).reshape(2, 4)).detach())
