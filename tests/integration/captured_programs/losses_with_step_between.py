"""An optimizer step between two backward passes: the second needs values that the step has changed."""

import torch
from torch import nn

torch.manual_seed(0)


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        h = self.first(x)
        return h.pow(2).mean(), self.second(h.detach()).mean(), self.second(h.tanh()).mean()


model = Chain()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
one, two, three = model(torch.randn(5, 3))
one.backward()
two.backward()
print(model.first.weight.grad.tolist(), model.second.weight.grad.tolist())
optimizer.step()
try:
    three.backward()
except RuntimeError as error:
    print(type(error).__name__, str(error).split(":")[0])
print(model.second.weight.grad.tolist())
