"""A nested region is reused although what an inner one went by is another.

After pytorch/pytorch#192905.
kind: value
stage: tracing
"""

import torch

region = torch.compiler.nested_compile_region


class Layer(torch.nn.Module):
    def __init__(self, is_first):
        super().__init__()
        self.is_first = is_first


@region
def inner(layer, x):
    return x.sin() if layer.is_first else x * 10  # cause


@region
def outer(layer, x):
    return inner(layer, x) + 1


layers = [Layer(True), Layer(False), Layer(True), Layer(False)]


@torch.compile(backend="eager")
def step(x):
    return sum(outer(layer, x) for layer in layers)


print(step(torch.ones(2)))
