"""A backward leaves memory of a gradient as it was, of which the program uses the other part."""

import torch


class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        result = torch.empty(1000)
        result[:500] = gradient[:500] * 2
        return result


@torch.compile(backend="aot_eager")
def step(x):
    return Half.apply(x)


x = torch.ones(1000, requires_grad=True)
for _ in range(2):
    x.grad = None
    step(x).sum().backward()
    print(x.grad[:500].sum())
