"""The derivative that a function of the program has for forward mode is not used.

After https://github.com/pytorch/pytorch/issues/192985
kind: value
stage: tracing
"""

import torch


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return torch.sin(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tangent):
        return torch.zeros_like(tangent)


@torch.compile(backend="eager")
def step(x):
    return torch.func.jvp(Sine.apply, (x,), (torch.ones_like(x),))  # cause


print(step(torch.ones(2)))
