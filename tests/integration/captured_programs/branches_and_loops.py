"""Early returns, branches and while loops on data, recursion, and comparison with numbers from tensors."""

import torch
from torch import nn

torch.manual_seed(0)


def classify(x):
    if x.sum() < 0:
        return "negative", -x
    if (x > 1).any():
        return "large", x.clamp(max=1)
    return "small", x


def newton(x):
    steps = 0
    guess = x / 2
    while (guess * guess - x).abs().max() > 1e-5 and steps < 50:
        guess = (guess + x / guess) / 2
        steps += 1
    return guess, steps


def power(x, n):
    return torch.ones_like(x) if n == 0 else x * power(x, n - 1)


class Adaptive(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.halt = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        total = torch.zeros(())
        for step in range(10):  # noqa: B007
            x = self.cell(x).tanh()
            total = total + torch.sigmoid(self.halt(x)).mean()
            if total.item() > 2:
                break
        return x, step


for x in (torch.tensor([0.1, 0.2]), torch.tensor([-1.0, 0.5]), torch.tensor([3.0, -1.0])):
    print(classify(x)[0], classify(x)[1].tolist(), classify(x)[1] is x)
print([v.tolist() if torch.is_tensor(v) else v for v in newton(torch.tensor([2.0, 9.0]))])
print(power(torch.tensor([1.5, 2.0]), 4).tolist())
print(Adaptive()(torch.ones(2, 3))[1], bool(torch.tensor([0.0]) == 0), torch.tensor(2) < 3)
