"""A small residual network on images of 32 x 32."""

import sys

import torch
from _loops import infer, train
from torch import nn
from torch.nn.functional import cross_entropy, relu


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = relu(self.norms[0](self.first(x)))
        return relu(x + self.norms[1](self.second(inner)))


class Network(nn.Module):
    def __init__(self, channels: int = 24, blocks: int = 2, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.Sequential(*(Block(channels) for _ in range(blocks)))
        self.head = nn.Linear(channels, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.stem(images)).mean(dim=(2, 3)))


torch.manual_seed(0)
model, images, classes = Network(), torch.randn(4, 3, 32, 32), torch.randint(10, (4,))
if "--train" in sys.argv:
    train(model, lambda scores: cross_entropy(scores, classes), images)
else:
    infer(model, images)
