"""backward with gradient=, inputs=, several roots, create_graph, and grad with batched gradients."""

import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(3, 3), nn.Linear(3, 2)


def forward(x):
    h = first(x).tanh()
    return h, second(h)


x = torch.randn(2, 3, requires_grad=True)
h, out = forward(x)
out.backward(gradient=torch.randn(2, 4)[:, ::2], inputs=[second.weight], retain_graph=True)
print(second.weight.grad.tolist(), first.weight.grad, x.grad)
torch.autograd.backward([h.sum(), out.mean()], inputs=[x])
print(x.grad.tolist(), first.weight.grad)
h, out = forward(x)
rows = torch.autograd.grad(out[0], x, torch.eye(2), is_grads_batched=True)[0]
print(rows.tolist())
h, out = forward(x)
x.grad = None
out.pow(2).sum().backward(create_graph=True)
print(x.grad.requires_grad)
penalty = x.grad.pow(2).sum()
(by_weight,) = torch.autograd.grad(penalty, first.weight)
print(by_weight.tolist())
