"""register_hook on what a module returns: it sees the gradient, and may replace it."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        h = self.first(x).tanh()
        return h, self.second(h)


model = Net()
for step in range(3):
    h, out = model(torch.full((2, 3), step + 1.0))
    h.register_hook(lambda g: print("h", g.tolist()))
    handle = out.register_hook(lambda g: g * 2)
    if step == 2:
        handle.remove()
    model.zero_grad()
    out.sum().backward()
    print(step, model.first.weight.grad.tolist())
