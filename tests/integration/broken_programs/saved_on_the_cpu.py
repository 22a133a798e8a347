"""Activations that are kept on the CPU for the backward pass.

kind: fell back to eager
advice: around the call

Made after a pattern common in torchtune (activation offloading).
"""

import torch


@torch.compile(backend="eager")
def layer(x):
    y = x.sin()
    with torch.autograd.graph.save_on_cpu():  # cause
        y = y * y.exp()
    return y.sum()


x = torch.ones(4, requires_grad=True)
for _ in range(2):
    layer(x).backward()
print([round(each, 4) for each in x.grad.tolist()])
