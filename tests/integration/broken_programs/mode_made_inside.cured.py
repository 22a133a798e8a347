"""Torch traces how the mode is made."""

import torch
from torch.overrides import TorchFunctionMode


class DoubledSine(TorchFunctionMode):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        return result * self.factor if function is torch.sin else result


@torch.compile(backend="eager")
def model(x):
    y = torch.cos(x)
    with DoubledSine(2.0):
        y = torch.sin(y)
    return y + 1


for scale in (1.0, 2.0):
    print(model(torch.full((2,), scale)).tolist())
