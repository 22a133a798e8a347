"""A subclass of nn.Parameter that a library uses to mark weights (as bitsandbytes and timm do)."""

import torch
from torch import nn

torch.manual_seed(0)


class Quantised(nn.Parameter):
    def __new__(cls, data, scale):
        self = super().__new__(cls, data, requires_grad=True)
        self.scale = scale
        return self


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Quantised(torch.randn(3, 4), scale=0.5)
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return x @ self.weight.T * self.weight.scale + self.bias


layer = Layer()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(3):
    loss = layer(torch.ones(2, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    layer.weight.scale *= 0.9
    print(loss.item(), type(layer.weight).__name__, layer.weight.scale)
print([type(p).__name__ for p in layer.parameters()], layer.weight.grad.tolist())
