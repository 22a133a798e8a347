"""A layer of the program's own computes roughly where it is compiled.

An idea of our own.
kind: value
stage: tracing
"""

import torch


def exactly(values):
    return torch.special.erf(values)


def roughly(values):
    return torch.tanh(1.2 * values)


def activation(values):
    if torch.compiler.is_compiling():  # cause
        return roughly(values)
    return exactly(values)


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, width))

    def forward(self, values):
        kept = values
        values = values * self.weight
        values = activation(values)
        return kept + values


class Stack(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(3) for _ in range(depth))

    def forward(self, values):
        for layer in self.layers:
            values = layer(values)
        return values.sum()


model = torch.compile(Stack(3), backend="aot_eager")
print(model(torch.tensor([1.0, 2.0, 4.0])).item())
