"""A function of the program's saves a copy of a tensor that is written later, and of one behind `detach`."""

import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(x)
        return gradient * gate * (1 + x * (1 - gate))


class Percent(float):
    """A number with a name of its own for what it is."""

    def of(self, value):
        return value * (float(self) / 100.0)


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.share = Percent(50.0)

    def forward(self, x):
        hidden = self.inner(x) * 1.0
        gated = Gate.apply(hidden)
        hidden.mul_(0.5)
        return self.share.of(gated) + hidden


torch.manual_seed(0)
model = Block(3)
compiled = torch.compile(model, backend="aot_eager")
compiled(torch.ones(2, 3)).square().sum().backward()
print([round(each, 4) for each in model.inner.bias.grad.tolist()])
