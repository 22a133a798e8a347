"""A backend on AOTAutograd doubles the gradients.

origin: graph
kind: wrong result
"""

import torch
from torch._dynamo.backends.common import aot_autograd


def forward_compiler(gm, example_inputs):
    return gm.forward


def backward_compiler(gm, example_inputs):
    def call(*args):
        return tuple(None if each is None else each * 2 for each in gm(*args))

    return call


doubling = aot_autograd(fw_compiler=forward_compiler, bw_compiler=backward_compiler)


@torch.compile(backend=doubling)
def loss(rows, weight):
    return ((rows @ weight).relu() * 0.5).sum()


loss(torch.randn(4, 6), torch.randn(6, 2, requires_grad=True)).backward()
