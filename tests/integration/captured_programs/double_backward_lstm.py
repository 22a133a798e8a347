"""The gradient of a gradient's norm through an LSTM."""

import torch
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 2)

    def forward(self, x):
        hidden, _ = self.lstm(x)
        return self.out(hidden).mean(1)


model = Tagger()
x = torch.randn(2, 4, 3, requires_grad=True)
(gradient,) = torch.autograd.grad(model(x).pow(2).sum(), x, create_graph=True)
gradient.norm().backward()
print(gradient.sum().item())
print([parameter.grad.norm().item() for parameter in model.lstm.parameters()])
