"""A convolutional classifier of leaves."""

import torch
from leaves import SPECIES
from torch import nn


class LeafClassifier(nn.Module):
    """Logits of the species, from what convolutions see on average."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.edges = nn.Conv2d(1, channels, 3, padding=1)
        self.shapes = nn.Conv2d(channels, channels, 3, stride=2)
        self.output = nn.Linear(channels, SPECIES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        seen = torch.relu(self.shapes(torch.relu(self.edges(images))))
        return torch.log_softmax(self.output(seen.mean(dim=(2, 3))), dim=1)
