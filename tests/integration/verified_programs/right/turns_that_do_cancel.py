"""A backend of the program's own leaves out two transposes in a row where they turn the same dimensions."""

import torch


def untwisting(graph, inputs):
    for node in list(graph.graph.nodes):
        if node.op != "call_method" or node.target != "transpose":
            continue
        inner = node.args[0]
        if inner.op == "call_method" and inner.target == "transpose" and inner.args[1:] == node.args[1:]:
            node.replace_all_uses_with(inner.args[0])
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph.forward


class Attention(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1.0, 1.0, size))

    def turned(self, x):
        x = x.transpose(1, 2).transpose(1, 2) * self.weight
        return x.transpose(1, 2).transpose(0, 1).contiguous()

    def forward(self, x):
        for number in range(2):
            x = torch.tanh(self.turned(x + number))
        return x.sum(dim=0)


attention = torch.compile(Attention(3), backend=untwisting)
with torch.no_grad():
    print(attention(torch.arange(27.0).reshape(3, 3, 3) / 27).tolist())
