"""A backward hook that came after the first call is not called.

After pytorch/pytorch#115750.
kind: gradient
stage: guards
"""

import torch

layer = torch.nn.Linear(2, 2, bias=False)
torch.nn.init.eye_(layer.weight)


@torch.compile(backend="aot_eager")
def step(x):
    return layer(x)  # cause


step(torch.ones(2, requires_grad=True))
layer.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
x = torch.ones(2, requires_grad=True)
step(x).sum().backward()
print(x.grad)
