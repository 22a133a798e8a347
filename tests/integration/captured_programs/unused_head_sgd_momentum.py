"""A head used in the first steps only: momentum goes on with zero gradients, but stops with None."""

import torch
from torch import nn

torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return {"first": self.first(h), "second": self.second(h)}


model = TwoHeads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(6, 4)
for step in range(6):
    out = model(x)
    loss = out["first"].pow(2).mean()
    if step < 3:
        loss = loss + out["second"].pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), model.second.weight.grad is None, model.second.bias.item())
