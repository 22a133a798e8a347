"""A temperature is changed through `.data` after the backward, and by a backward hook."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(4, 4, bias=False)
        self.register_buffer("temperature", torch.tensor([0.5, 1.0, 1.5, 2.0]))

    def forward(self, x):
        return torch.tanh(self.query(x) * self.temperature.sin())


torch.manual_seed(0)
net = Attention()
compiled = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(2, 4)
for _ in range(3):
    loss = compiled(x).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    net.temperature.data.mul_(0.9)
    print(round(loss.item(), 4))
