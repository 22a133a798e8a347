"""A pass of the program's own over Inductor's graphs takes a sine for a cosine, which only the backward has.

Planted.
kind: gradient
stage: inductor
"""

import torch
import torch._inductor.config


def exchange(graph):
    for node in graph.nodes:
        if node.target is torch.ops.aten.cos.default:
            node.target = torch.ops.aten.sin.default


torch._inductor.config.post_grad_custom_post_pass = exchange


@torch.compile
def step(x):
    x = x * 2
    return torch.sin(x)  # cause


x = torch.ones(2, requires_grad=True)
step(x).sum().backward()
print(x.grad)
