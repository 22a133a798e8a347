"""A tensor that backward needs is written to afterwards: eager's error about versions, not wrong numbers."""

import torch

torch.manual_seed(0)


def squares(x):
    return (x * x).sum()


scale = torch.ones(3)
x = torch.randn(3, requires_grad=True)
hidden = x * 1
loss = squares(hidden)
hidden.add_(1)
try:
    loss.backward()
    print("backward", x.grad.tolist())
except RuntimeError as error:
    print(type(error).__name__, "modified by an inplace operation" in str(error))
