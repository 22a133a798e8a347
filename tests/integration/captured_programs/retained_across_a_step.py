"""A second loss goes backward after a step that has moved the weights, whose values it does not need."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        y = self.linear(x)
        return y.mean(), y.pow(2).mean()


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    first, second = model(torch.randn(4, 3))
    optimizer.zero_grad()
    first.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    second.backward()
    optimizer.step()
    print(step, first.item(), second.item(), model.linear.weight.grad.tolist())
