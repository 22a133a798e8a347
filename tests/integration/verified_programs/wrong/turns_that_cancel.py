"""A backend of the program's own takes two transposes in a row for none, whatever dimensions they turn.

Planted.
kind: value
stage: untwisting
"""

import torch


def untwisting(graph, inputs):
    """Leaves out two transposes that follow each other."""
    for node in list(graph.graph.nodes):
        if node.op != "call_method" or node.target != "transpose":
            continue
        inner = node.args[0]
        if inner.op == "call_method" and inner.target == "transpose":
            node.replace_all_uses_with(inner.args[0])
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph.forward


def heads_first(x):
    return x.transpose(1, 2)


def features_second(x):
    return x.transpose(0, 1)  # cause


class Attention(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1.0, 1.0, size))
        self.rounds = 2

    def turned(self, x):
        x = heads_first(x) * self.weight
        x = x.transpose(0, 1).transpose(0, 1)
        return features_second(heads_first(x))

    def forward(self, x):
        for number in range(self.rounds):
            x = x + number
            x = torch.tanh(self.turned(x))
        return x.sum(dim=0)


attention = torch.compile(Attention(3), backend=untwisting)
with torch.no_grad():
    print(attention(torch.arange(27.0).reshape(3, 3, 3) / 27).tolist())
