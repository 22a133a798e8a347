"""Short tracks of a few decaying tones."""

import torch

LENGTH = 256


def make_track(number: int, seed: int) -> torch.Tensor:
    """Two channels of one track."""
    generator = torch.Generator().manual_seed(1000 * seed + number)
    time = torch.linspace(0, 1, LENGTH)
    pitches = 5 + 40 * torch.rand(2, 3, 1, generator=generator)
    tones = torch.sin(6.28318 * pitches * time) * torch.exp(-3 * time)
    return tones.sum(dim=1)
