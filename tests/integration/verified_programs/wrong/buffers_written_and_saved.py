"""Inductor writes over buffers whose former values the backward needs (spectral norm).

Found with torch 2.13 by comparing. The layer is one of torch's own: no line of the program's is inside of it.
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
