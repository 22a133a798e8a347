"""A TorchFunctionMode around a model sees every function that eager calls."""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

torch.manual_seed(0)


class Log(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.linear(x)) + x.sum()


model, x = Net(), torch.randn(2, 3)
print(model(x).tolist())
with Log() as log:
    out = model(x)
print(out.tolist(), log.names)
print(model(x).tolist())
