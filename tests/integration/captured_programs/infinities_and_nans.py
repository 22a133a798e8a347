"""Division by zero, log of zero, NaN in max, where with NaN behind it, and gradients of all of them."""

import torch


def risky(x):
    return 1 / x, x.log(), x.sqrt(), x / x, x.sum() * float("inf")


def safe_sqrt(x):
    return torch.where(x > 0, x.sqrt(), torch.zeros_like(x))


def safer_sqrt(x):
    positive = x > 0
    return torch.where(positive, torch.where(positive, x, 1.0).sqrt(), 0.0)


x = torch.tensor([0.0, 1.0, -1.0, 4.0])
print([t.tolist() for t in risky(x)], x.log().max().item(), torch.nan_to_num(x.log()).tolist())
for function in (safe_sqrt, safer_sqrt, lambda v: v.relu().norm(), lambda v: v.clamp(0, 1).prod()):
    leaf = x.clone().requires_grad_()
    out = function(leaf)
    out.sum().backward()
    print(out.tolist(), leaf.grad.tolist())
zero = torch.zeros(3, requires_grad=True)
(lambda v: v.norm() + v.abs().sum())(zero).backward()
print(zero.grad.tolist(), torch.tensor(float("nan")).max().item())
