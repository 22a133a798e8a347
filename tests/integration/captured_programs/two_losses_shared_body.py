"""Two backward passes through a shared body with retain_graph, the gradients of each seen on their own."""

import torch
from torch import nn

torch.manual_seed(0)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.left, self.right = nn.Linear(3, 6), nn.Linear(6, 1), nn.Linear(6, 1)

    def forward(self, x):
        h = torch.sigmoid(self.body(x))
        return self.left(h).mean(), self.right(h).square().mean()


model = Shared()
left, right = model(torch.randn(5, 3))
left.backward(retain_graph=True)
print(model.body.weight.grad.tolist(), model.right.weight.grad)
model.zero_grad()
right.backward()
print(model.body.weight.grad.tolist(), model.left.weight.grad)
try:
    left.backward()
except RuntimeError as error:
    print(type(error).__name__, error)
