"""A custom autograd.Function with state, prints and counters in forward and backward."""

import torch
from torch import nn

torch.manual_seed(0)
calls = {"forward": 0, "backward": 0}


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, name):
        calls["forward"] += 1
        ctx.factor, ctx.name = factor, name
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        calls["backward"] += 1
        (x,) = ctx.saved_tensors
        print("backward", ctx.name, x.sum().item())
        return grad * ctx.factor, None, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        return self.second(ScaleGradient.apply(self.first(x), 0.1, "first"))


model = Net()
for _ in range(3):
    model.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    print(model.first.weight.grad.tolist(), calls)
