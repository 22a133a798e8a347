"""A pass of the program's own over what Inductor is given leaves out a clamp that follows a relu.

Planted.
kind: value
stage: inductor
"""

import torch
import torch._inductor.config

aten = torch.ops.aten
LIMITS = (aten.clamp_min.default, aten.clamp_max.default)


def drop_limits(graph):
    """What a relu gives needs no lower limit; that there is an upper one is forgotten."""
    for node in list(graph.nodes):
        if node.target in LIMITS and node.args[0].target is aten.relu.default:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


torch._inductor.config.post_grad_custom_pre_pass = drop_limits


def limited(x, low, high):
    return x.clamp(low, high)  # cause


class Tower(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(2)])
        self.low, self.high = 0.0, 0.5

    def layer(self, number, x):
        x = self.layers[number](x)
        return torch.relu(x) if number else torch.tanh(x)

    def forward(self, x):
        for number in range(len(self.layers)):
            x = self.layer(number, x)
            x = limited(x, self.low, self.high)
            x = x * 4.0
        return x - x.mean()


torch.manual_seed(0)
tower = torch.compile(Tower(4))
with torch.no_grad():
    print([round(each, 4) for each in tower(torch.ones(2, 4))[0].tolist()])
