"""Forward and backward hooks that are there before the first call."""

import torch

seen = []
layer = torch.nn.Linear(2, 2, bias=False)
torch.nn.init.eye_(layer.weight)
layer.register_forward_hook(lambda module, inputs, output: seen.append(tuple(output.shape)))
layer.weight.register_hook(lambda gradient: gradient * 2)
model = torch.compile(layer, backend="aot_eager")
for _ in range(3):
    model(torch.ones(1, 2)).sum().backward()
print(seen, layer.weight.grad)
