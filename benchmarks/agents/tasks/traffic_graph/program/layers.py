"""Message passing between crossings."""

import torch
from roads import Town
from torch import nn


def mean_of_neighbours(values: torch.Tensor, town: Town) -> torch.Tensor:
    """The mean of what roads bring to a crossing; zero where none ends."""
    total = torch.zeros_like(values).index_add(0, town.end, values[town.start])
    roads = torch.bincount(town.end, minlength=town.crossings)
    return total / roads.clamp(min=1)[:, None]


class RoadLayer(nn.Module):
    """Combines a crossing with the crossings from which roads lead to it."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.others = nn.Linear(inputs, outputs, bias=False)

    def forward(self, values: torch.Tensor, town: Town) -> torch.Tensor:
        return self.own(values) + self.others(mean_of_neighbours(values, town))
