"""is_leaf, requires_grad, grad_fn, is_inference, dtype, strides and memory of what functions return."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
constant = torch.ones(2)


def outputs(x):
    h = layer(x)
    with torch.no_grad():
        frozen = layer(x) * 2
    return h, h.detach(), h.argmax(-1), h.t(), h.unsqueeze(0), frozen, constant, h.sum(), x.shape[0], h > 0


def show():
    outs = outputs(torch.ones(4, 3))
    for index, out in enumerate(outs):
        if isinstance(out, torch.Tensor):
            shares = out.data_ptr() == outs[0].data_ptr()
            print(index, out.is_leaf, out.requires_grad, out.grad_fn is None, out.is_inference(), shares)
            print(out.dtype, tuple(out.shape), out.stride(), out.storage_offset(), type(out).__name__)
        else:
            print(index, type(out).__name__, out)


show()
with torch.no_grad():
    show()
with torch.inference_mode():
    show()
layer.requires_grad_(False)
show()
