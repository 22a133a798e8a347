"""Forecasts vehicles from the traffic of an hour."""

import torch
from layers import RoadLayer
from roads import Town
from torch import nn


class TrafficModel(nn.Module):
    """Two layers of roads, and a forecast for each crossing."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first = RoadLayer(3, width)
        self.second = RoadLayer(width, width)
        self.forecast = nn.Linear(width, 1)

    def forward(self, traffic: torch.Tensor, town: Town) -> torch.Tensor:
        near = torch.relu(self.first(traffic, town))
        far = torch.relu(self.second(near, town))
        return self.forecast(near + far).squeeze(1)
