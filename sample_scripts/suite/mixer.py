"""An MLP-Mixer on images of 64 x 64: perceptrons over patches, then over channels."""

import torch
from _loops import infer
from torch import nn

PATCH, WIDTH, PATCHES = 8, 96, 64


def perceptron(width: int, hidden: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.over_patches, self.over_channels = perceptron(PATCHES, 128), perceptron(WIDTH, 192)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.over_patches(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.over_channels(self.norms[1](x))


class Mixer(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.layers = nn.Sequential(*(Layer() for _ in range(layers)))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        return self.head(self.layers(x).mean(dim=1))


torch.manual_seed(0)
infer(Mixer(), torch.randn(8, 3, 64, 64))
