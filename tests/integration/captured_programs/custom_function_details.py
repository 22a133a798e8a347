"""once_differentiable, set_materialize_grads(False), mark_dirty, mark_non_differentiable."""

import torch
from torch.autograd.function import once_differentiable


class TwoOutputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, w)
        index = x.argmax()
        ctx.mark_non_differentiable(index)
        return x * w, x + w, index

    @staticmethod
    @once_differentiable
    def backward(ctx, product, total, index):
        print("got", product is None, total is None, ctx.needs_input_grad)
        x, w = ctx.saved_tensors
        by_x = by_w = None
        if product is not None:
            by_x, by_w = product * w, product * x
        if total is not None:
            by_x, by_w = (total, total) if by_x is None else (by_x + total, by_w + total)
        return by_x, by_w if ctx.needs_input_grad[1] else None


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def compute(x, w):
    return TwoOutputs.apply(x, w)


x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
product, total, index = compute(x, w)
product.sum().backward()
print(x.grad.tolist(), index.item(), index.requires_grad)
_, total, _ = compute(x, w.requires_grad_())
print(torch.autograd.grad(total.sum(), [x, w]))
y = x * 1
print(AddOne.apply(y) is y, torch.autograd.grad(y.sum(), x)[0].tolist())
product, _, _ = compute(x, w)
(gradient,) = torch.autograd.grad(product.sum(), x, create_graph=True)
try:
    gradient.sum().backward()
except RuntimeError as error:
    print(type(error).__name__, error)
