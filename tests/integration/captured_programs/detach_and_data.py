"""detach_, .data, set_ and requires_grad_ on outputs, and weights whose data is replaced between calls."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)


def forward(x):
    h = layer(x)
    return h, h.detach(), h.data


h, detached, data = forward(torch.ones(1, 2))
detached.add_(1)
data.mul_(2)
print(h.tolist(), h.requires_grad, detached.requires_grad, data.data_ptr() == h.data_ptr())
h.detach_()
print(h.requires_grad, h.grad_fn)
layer.weight.data = torch.ones(2, 2)
layer.bias.data.zero_()
print(forward(torch.ones(1, 2))[0].tolist())
with torch.no_grad():
    layer.weight.set_(torch.full((2, 2), 3.0))
print(forward(torch.ones(1, 2))[0].tolist())
h, detached, _ = forward(torch.ones(1, 2))
detached.requires_grad_()
(detached * 2).sum().backward()
print(detached.grad.tolist(), layer.weight.grad)
