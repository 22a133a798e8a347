"""What a function returned is written to by the caller: does the input change, and the gradient?"""

import torch

torch.manual_seed(0)


def same(x):
    return x


def as_view(x):
    return x.view(-1), x.t(), x[0]


def maybe_copy(x):
    return x.contiguous(), x.to(torch.float32), x.reshape(2, 2), x.clone()


x = torch.arange(4.0).reshape(2, 2)
same(x).add_(1)
print(x.tolist(), same(x) is x)
flat, turned, row = as_view(x)
flat[3] = 50
turned[0, 1] = 20
row.zero_()
print(x.tolist(), [t._base is x for t in (flat, turned, row)])
outs = maybe_copy(x)
for out in outs:
    out.add_(1)
print(x.tolist(), [out.data_ptr() == x.data_ptr() for out in outs], outs[0] is x, outs[1] is x)
weight = torch.ones(2, 2, requires_grad=True)
out = (lambda w: w * 2)(weight)
out[0].mul_(3)
out.sum().backward()
print(weight.grad.tolist())
