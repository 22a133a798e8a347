"""A backend of the program's own makes a normalization a product and a sum, and adds epsilon too late.

Planted.
kind: value
stage: folding
"""

import torch
import torch.nn.functional as F


def folding(gm, inputs):
    """Make each batch norm a product and a sum."""
    for node in list(gm.graph.nodes):
        if node.target is not F.batch_norm and node.target is not torch.batch_norm:
            continue
        x, mean, var, weight, bias = node.args[:5]
        with gm.graph.inserting_before(node):
            root = gm.graph.call_function(torch.sqrt, (var,))
            spread = gm.graph.call_function(torch.add, (root, 0.5))
            scale = gm.graph.call_function(torch.div, (weight, spread))
            shifted = gm.graph.call_function(torch.sub, (x, mean))
            scaled = gm.graph.call_function(torch.mul, (shifted, scale))
            result = gm.graph.call_function(torch.add, (scaled, bias))
        node.replace_all_uses_with(result)
        gm.graph.erase_node(node)
    gm.recompile()
    return gm.forward


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.norm = torch.nn.BatchNorm1d(width, eps=0.5)

    def forward(self, x):
        x = self.linear(x)
        x = self.norm(x)  # cause
        return torch.relu(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(3) for _ in range(2))
        self.last = torch.nn.Linear(3, 1)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.last(x)


torch.manual_seed(0)
net = Net().eval()
compiled = torch.compile(net, backend=folding)
with torch.no_grad():
    print(compiled(torch.linspace(-1.0, 1.0, 6).reshape(2, 3)))
