"""Functions that return parameters, buffers, submodules and constants: they are the program's own objects."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("scale", torch.ones(2))

    def forward(self, x):
        return (
            self.linear(x) * self.scale,
            self.linear.weight,
            self.scale,
            self.linear,
            self.linear.weight.t(),
        )


model = Net()
out, weight, scale, linear, turned = model(torch.ones(1, 3))
print(weight is model.linear.weight, scale is model.scale, linear is model.linear, turned._base is weight)
print(type(weight).__name__, weight.is_leaf, turned.is_leaf, turned.grad_fn is not None)
(out.sum() + weight.pow(2).sum()).backward()
print(weight.grad.tolist())
scale.mul_(3)
print(model(torch.ones(1, 3))[0].tolist())
with torch.no_grad():
    turned.zero_()
print(model(torch.ones(1, 3))[0].tolist(), model.linear.weight.sum().item())
