"""Outputs that share memory with each other: writing to one is seen in the others, and by autograd."""

import torch

torch.manual_seed(0)


def windows(x):
    y = x * 2
    return y, y[0], y.t(), y.view(-1)


def halves(x):
    left, right = (x + 1).chunk(2)
    return left, right


y, row, turned, flat = windows(torch.arange(4.0).reshape(2, 2))
row.fill_(7)
flat[3] = -1
print(y.tolist(), turned.tolist(), row.data_ptr() == y.data_ptr(), flat.data_ptr() == y.data_ptr())
leaf = torch.ones(2, 2, requires_grad=True)
y, row, turned, flat = windows(leaf)
row.mul_(5)
print(y.tolist(), flat.tolist())
(y.sum() + flat.sum()).backward()
print(leaf.grad.tolist())
left, right = halves(torch.arange(4.0))
left.zero_()
print(left.tolist(), right.tolist(), left.untyped_storage().data_ptr() == right.untyped_storage().data_ptr())
