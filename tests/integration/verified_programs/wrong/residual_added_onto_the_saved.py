"""In a loop, a residual is added in place onto what a function of the program's has saved for its backward.

After reports that version checks of saved tensors are lost under torch.compile.
kind: exception
stage: tracing
"""

import torch


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return 2.0 * gradient * ctx.saved_tensors[0]


class Residual:
    """Adds up what the layers gave."""

    def __init__(self, start):
        self.total = start

    def add(self, part):
        self.total += part  # cause
        return self.total


class Stack(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(2)])

    def forward(self, x):
        residual = Residual(torch.sin(x))
        for layer in self.layers:
            x = layer(residual.total.tanh())
            part = Squared.apply(residual.total)
            residual.add(part)
        return residual.total + x


torch.manual_seed(0)
stack = torch.compile(Stack(3))
x = torch.ones(2, 3, requires_grad=True)
try:
    stack(x).sum().backward()
    print([round(each, 3) for each in x.grad[0].tolist()])
except RuntimeError as error:
    print(type(error).__name__)
