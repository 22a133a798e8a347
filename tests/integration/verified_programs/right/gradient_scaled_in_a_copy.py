"""A backward of the program's scales a copy of the gradient in place, which another branch reads."""

import torch


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.clone().mul_(-ctx.strength), None


class Adversary(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = torch.nn.Linear(width, width)
        self.domain = torch.nn.Linear(width, width)
        self.shift = torch.nn.Parameter(torch.zeros(2, width))

    def forward(self, x):
        features = torch.relu(self.encoder(x))
        domains = self.domain(self.shift + Reversed.apply(features, 3.0))
        return domains.square().mean() + features.mean()


torch.manual_seed(0)
model = Adversary(4)
compiled = torch.compile(model)
for _ in range(2):
    compiled(torch.ones(2, 4)).backward()
    print([round(each, 4) for each in model.shift.grad[0].tolist()])
