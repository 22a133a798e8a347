"""A backend of the program's own decomposes an operator wrongly.

Planted.
kind: value
stage: decomposing
"""

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd


def wrong_silu(x):
    return x * torch.sigmoid(1.1 * x)


def decomposing(gm, inputs):
    table = {torch.ops.aten.silu.default: wrong_silu}
    return aot_autograd(fw_compiler=lambda gm, inputs: make_boxed_func(gm.forward), decompositions=table)(
        gm, inputs
    )


@torch.compile(backend=decomposing)
def step(x):
    x = torch.tanh(x)
    x = torch.nn.functional.silu(x)  # cause
    return x + 1


print(step(torch.ones(2)))
