"""The backward of a part without autocast runs with it.

After https://github.com/pytorch/pytorch/issues/179804
kind: gradient
stage: AOTAutograd
"""

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(64, 64)


@torch.compile(backend="aot_eager")
def step(x):
    with torch.autocast("cpu", enabled=False):
        return x.float() @ layer.weight.t()  # cause


with torch.autocast("cpu", dtype=torch.bfloat16):
    out = step(torch.randn(4, 64))
(out**2).sum().backward()
print(layer.weight.grad.sum().item())
