"""Inductor writes new values into buffers of which the backward needs those that it was given (spectral norm).

Found with torch 2.13 by comparing; the layer is one of torch's own, so that no line of the program's is inside of it.
kind: gradient
stage: inductor
"""

import torch

torch.manual_seed(0)
layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(4, 4))
step = torch.compile(layer)  # cause
weights = torch.arange(8.0).reshape(2, 4)
(step(torch.ones(2, 4)) * weights).sum().backward()
print(layer.parametrizations.weight.original.grad)
