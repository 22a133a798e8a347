"""The operator that the backward of an operator calls writes what was saved for it, and does not say so.

After pytorch/pytorch#131197; there it is the forward's operator.
kind: gradient
stage: AOTAutograd
"""

import torch


@torch.library.custom_op("corpus::soft_limit", mutates_args=())
def soft_limit(x: torch.Tensor, limit: float) -> torch.Tensor:
    return limit * torch.tanh(x / limit)


@soft_limit.register_fake
def _(x, limit):
    return torch.empty_like(x)


@torch.library.custom_op("corpus::soft_limit_backward", mutates_args=())
def soft_limit_backward(gradient: torch.Tensor, x: torch.Tensor, limit: float) -> torch.Tensor:
    gradient.mul_(1 - torch.tanh(x / limit) ** 2)
    return gradient.clone()


@soft_limit_backward.register_fake
def _(gradient, x, limit):
    return torch.empty_like(gradient)


def save(ctx, inputs, output):
    x, ctx.limit = inputs
    ctx.save_for_backward(x)


def backward(ctx, gradient):
    return soft_limit_backward(gradient, *ctx.saved_tensors, ctx.limit), None


soft_limit.register_autograd(backward, setup_context=save)


class Scores(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = torch.nn.Linear(width, width)
        self.bias = torch.nn.Parameter(torch.zeros(2, width))

    def forward(self, x):
        scores = self.project(x)
        limited = soft_limit(scores, 0.5)  # cause
        limited = self.bias + limited
        return torch.sigmoid(limited) * 3.0


torch.manual_seed(0)
model = Scores(3)
compiled = torch.compile(model, backend="aot_eager")
compiled(torch.ones(2, 3)).square().sum().backward()
print([round(each, 4) for each in model.bias.grad.flatten().tolist()])
print([round(each, 4) for each in model.project.bias.grad.tolist()])
