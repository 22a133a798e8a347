"""A backend of the program's own has a decomposition that forgets the activation's scale.

An idea of our own.
kind: value
stage: decompositions
"""

import torch
from functorch.compile import make_boxed_func
from torch import nn
from torch._dynamo.backends.common import aot_autograd

aten = torch.ops.aten


def elu(x, alpha=1.0, scale=1.0, input_scale=1.0):
    return torch.where(x > 0, x, alpha * torch.expm1(x * input_scale))


def as_it_is(gm, example_inputs):
    return make_boxed_func(gm.forward)


lowered = aot_autograd(fw_compiler=as_it_is, decompositions={aten.elu.default: elu})


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.act = nn.SELU()

    def gated(self, x):
        h = self.lin(x)
        return self.act(h)  # cause

    def forward(self, x):
        return torch.tanh(x) + self.gated(x)


torch.manual_seed(0)
net = nn.Sequential(nn.LayerNorm(4), Block(4), nn.ELU(), nn.Linear(4, 2)).requires_grad_(False)
run = torch.compile(net, backend=lowered)
print(run(torch.randn(3, 4)))
