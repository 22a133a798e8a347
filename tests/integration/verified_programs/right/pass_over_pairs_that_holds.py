"""A pass of the program's own makes one multiplication of two: the same but for rounding."""

import torch
import torch._inductor.config

aten = torch.ops.aten


def join_scalings(graph):
    for node in list(graph.nodes):
        if node.target is not aten.mul.Tensor or not isinstance(node.args[1], float):
            continue
        inner = node.args[0]
        if inner.target is aten.mul.Tensor and isinstance(inner.args[1], float):
            node.args = (inner.args[0], inner.args[1] * node.args[1])
    graph.eliminate_dead_code()


torch._inductor.config.post_grad_custom_pre_pass = join_scalings


@torch.compile
def mixed(x, y):
    x = torch.sin(x) * 0.3
    x = x * 0.7
    return x * 1.1 - y.mean()


print(mixed(torch.arange(4.0), torch.ones(4)).sum() < 0)
