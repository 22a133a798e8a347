"""A network whose weights are used as they will be stored."""

import torch
from rounding import quantised
from torch import nn
from torch.nn import functional


class QuantisedLinear(nn.Linear):
    """A linear layer that multiplies with rounded weights."""

    def __init__(self, inputs: int, outputs: int, bits: int) -> None:
        super().__init__(inputs, outputs)
        self.bits = bits

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return functional.linear(values, quantised(self.weight, self.bits), self.bias)


class Regressor(nn.Module):
    """Two quantised layers, the first with more bits."""

    def __init__(self, inputs: int, width: int = 16) -> None:
        super().__init__()
        self.first = QuantisedLinear(inputs, width, bits=6)
        self.second = QuantisedLinear(width, 1, bits=4)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(values))).squeeze(1)
