"""A backend of the program's own takes two calls of a function for one, whatever dimension they are given.

Planted.
kind: value
stage: sharing
"""

import torch


def sharing(graph, inputs):
    """Computes what occurs twice only once."""
    seen = {}
    for node in list(graph.graph.nodes):
        if node.op != "call_method":
            continue
        key = (node.target, node.args)
        if key in seen:
            node.replace_all_uses_with(seen[key])
            graph.graph.erase_node(node)
        else:
            seen[key] = node
    graph.recompile()
    return graph.forward


def row_means(x):
    return x.mean(dim=1)


def column_means(x):
    return x.mean(dim=0)  # cause


class Center(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.1, 0.9, 9).reshape(3, 3))

    def forward(self, x):
        y = torch.matmul(x, self.weight)
        rows = row_means(y)
        columns = column_means(y)
        centered = y - rows.unsqueeze(1)
        centered = centered - columns
        return centered.square()


center = torch.compile(Center(), backend=sharing)
with torch.no_grad():
    print(center(torch.arange(9.0).reshape(3, 3)).tolist())
