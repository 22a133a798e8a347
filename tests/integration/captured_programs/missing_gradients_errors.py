"""backward where there is nothing to differentiate, on vectors, and on outputs of no_grad: eager's errors."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)


def forward(x):
    h = layer(x)
    return h, h.detach().sum(), h.argmax(-1).sum(), h.round().sum()


h, detached, index, rounded = forward(torch.ones(2, 3))
for name, call in (
    ("vector", lambda: h.backward()),
    ("detached", lambda: detached.backward()),
    ("index", lambda: index.backward()),
    ("gradient shape", lambda: h.backward(torch.ones(3))),
    ("gradient type", lambda: torch.autograd.grad(h, layer.bias, torch.ones(2, 2).int(), retain_graph=True)),
    ("rounded", lambda: rounded.backward()),
    ("requires_grad", lambda: index.requires_grad_()),
    ("grad of other", lambda: torch.autograd.grad(rounded, torch.ones(1, requires_grad=True))),
):
    try:
        print(name, call())
    except RuntimeError as error:
        print(name, type(error).__name__, error)
print(layer.weight.grad.tolist())
