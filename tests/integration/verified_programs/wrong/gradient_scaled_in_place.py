"""A backward of the program's scales the gradient that it is given in place, and another branch reads it.

An idea of our own, after PyTorch's page on extending autograd: a backward is not to write its gradients.
kind: gradient
stage: AOTAutograd
"""

import torch


class Reversed(torch.autograd.Function):
    """Gradients of another sign: for a domain classifier."""

    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.mul_(-ctx.strength), None


class Adversary(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = torch.nn.Linear(width, width)
        self.domain = torch.nn.Linear(width, width)
        self.shift = torch.nn.Parameter(torch.zeros(2, width))
        self.strength = 3.0

    def domains(self, features):
        reversed_features = Reversed.apply(features, self.strength)  # cause
        return self.domain(self.shift + reversed_features)

    def forward(self, x):
        features = torch.relu(self.encoder(x))
        domains = self.domains(features)
        return domains.square().mean() + features.mean()


torch.manual_seed(0)
model = Adversary(4)
compiled = torch.compile(model, backend="aot_eager")
compiled(torch.ones(2, 4)).backward()
print([round(each, 4) for each in model.shift.grad[0].tolist()])
print([round(each, 4) for each in model.encoder.bias.grad.tolist()])
