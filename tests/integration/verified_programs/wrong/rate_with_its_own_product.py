"""A number of a class of the program's has its own product: a tensor is multiplied by the plain number.

An idea of our own, after reports of subclasses of int and float that tracing takes for constants.
kind: value
stage: tracing
"""

import torch


class Percent(float):
    """A share in percent, which is divided by 100 where it is used."""

    def __mul__(self, other):
        return other * (float(self) / 100.0)

    __rmul__ = __mul__


class Mixture(torch.nn.Module):
    def __init__(self, width, share):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)
        self.share = share
        self.register_buffer("offset", torch.full((width,), 0.25))

    def mixed(self, first, second):
        part = self.share * first  # cause
        rest = second - self.offset
        return part + rest

    def forward(self, x):
        first = torch.relu(self.first(x))
        second = torch.tanh(self.second(x))
        y = self.mixed(first, second)
        return y / (y.abs().amax() + 1.0)


torch.manual_seed(0)
model = torch.compile(Mixture(3, Percent(30.0)), backend="eager")
with torch.no_grad():
    print(model(torch.arange(6.0).reshape(2, 3)))
