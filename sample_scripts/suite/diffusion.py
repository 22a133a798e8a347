"""Steps of a diffusion model's sampling: a small U-Net says the noise, and some of it is taken away."""

import math

import torch
from _loops import STEPS
from torch import nn
from torch.nn.functional import interpolate, silu

CHANNELS = 24


class Block(nn.Module):
    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.convolution, self.shortcut = nn.Conv2d(before, after, 3, padding=1), nn.Conv2d(before, after, 1)
        self.norm, self.time = nn.GroupNorm(4, after), nn.Linear(CHANNELS, after)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        inner = self.norm(self.convolution(x)) + self.time(time)[:, :, None, None]
        return silu(inner) + self.shortcut(x)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([Block(3, CHANNELS), Block(CHANNELS, 2 * CHANNELS)])
        self.middle = Block(2 * CHANNELS, 2 * CHANNELS)
        self.up = nn.ModuleList([Block(4 * CHANNELS, CHANNELS), Block(2 * CHANNELS, CHANNELS)])
        self.head = nn.Conv2d(CHANNELS, 3, 1)

    def forward(self, x: torch.Tensor, moment: torch.Tensor) -> torch.Tensor:
        frequencies = torch.exp(-math.log(1000) * torch.arange(CHANNELS // 2) / (CHANNELS // 2))
        angles = moment[:, None] * frequencies
        time = torch.cat([angles.sin(), angles.cos()], dim=1)
        kept = []
        for block in self.down:
            x = block(x, time)
            kept.append(x)
            x = x[:, :, ::2, ::2]
        x = self.middle(x, time)
        for block in self.up:
            x = block(torch.cat([interpolate(x, scale_factor=2.0), kept.pop()], dim=1), time)
        return self.head(x)


def sample(model: nn.Module, image: torch.Tensor) -> torch.Tensor:
    for step in range(STEPS):
        image = image - model(image, torch.full((len(image),), float(STEPS - step))) / STEPS
    return image


torch.manual_seed(0)
with torch.no_grad():
    print(f"mean of the image {sample(UNet().eval(), torch.randn(2, 3, 32, 32)).mean().item():.4f}")
