"""A region that is compiled once is called with two layers, in a function that is compiled itself."""

import torch

torch.manual_seed(0)
layers = [torch.nn.Linear(4, 4) for _ in range(2)]


@torch.compiler.nested_compile_region
def block(layer, x):
    return torch.relu(layer(x)) + x


@torch.compile(backend="aot_eager")
def step(x):
    for layer in layers:
        x = block(layer, x)
    return x


for _ in range(3):
    print(round(float(step(torch.ones(2, 4)).sum()), 3))
