"""Double backward through attention: the fused kernel refuses it, the same written out does not."""

import torch
from torch import nn

torch.manual_seed(0)
query, key = nn.Linear(4, 4), nn.Linear(4, 4)


def fused(x):
    return nn.functional.scaled_dot_product_attention(query(x), key(x), x)


def written_out(x):
    weights = (query(x) @ key(x).transpose(-2, -1) / 2).softmax(-1)
    return weights @ x


for attention in (written_out, fused):
    x = torch.randn(2, 5, 4, requires_grad=True)
    try:
        (gradient,) = torch.autograd.grad(attention(x).square().sum(), x, create_graph=True)
        gradient.square().sum().backward()
        print(gradient.sum().item(), query.weight.grad.norm().item(), x.grad.norm().item())
    except RuntimeError as error:
        print(type(error).__name__, error)
