"""A tensor's gradient is cleared inside.

kind: graph break
advice: outside
"""

import torch

weight = torch.ones(2, requires_grad=True)
weight.grad = torch.ones(2)


@torch.compile(backend="eager")
def model(x):
    y = (x * weight).sin()
    weight.grad = None  # cause
    return y.detach().cos()


print(model(torch.ones(2)).tolist())
