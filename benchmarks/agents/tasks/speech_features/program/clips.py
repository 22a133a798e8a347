"""Clips of sound that are made up: a tone that slides, with noise."""

import math

import torch

RATE = 8000
SECONDS = 0.5


def make_clip(number: int, seed: int) -> torch.Tensor:
    """One clip, as long as all others."""
    generator = torch.Generator().manual_seed(1000 * seed + number)
    time = torch.arange(int(RATE * SECONDS)) / RATE
    pitch = 200 + 80 * number + 150 * time
    tone = torch.sin(2 * math.pi * pitch * time)
    return 0.6 * tone + 0.05 * torch.randn(len(time), generator=generator)
