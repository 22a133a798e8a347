"""The program in the pictures of the page: a small network that breaks, and is compiled again."""

import torch
from torch import nn


class Gate(nn.Module):
    """Two layers, of which the second is left out where the first has little to say."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)
        self.temperature = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x)) / self.temperature
        if y.mean() > 0.3:
            y = torch.relu(self.second(y))
        return normalised(y)


def normalised(y: torch.Tensor) -> torch.Tensor:
    """Each row with length 1."""
    return y / (y.square().sum(-1, keepdim=True).sqrt() + 1e-6)


gate = Gate()
model = torch.compile(gate, backend="aot_eager")
for step in range(300):
    if step % 100 == 99:
        gate.temperature *= 0.5
    model(torch.randn(32, 64)).sum().backward()
