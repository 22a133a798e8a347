"""Where recordings come from: files, and a synthesiser."""

import torch

LENGTH = 128


def read_file(number: int, seed: int) -> torch.Tensor:
    """Both channels of a recording, whose file holds a pair of samples for each time."""
    generator = torch.Generator().manual_seed(100 * seed + number)
    pairs = torch.randn(LENGTH, 2, generator=generator).cumsum(dim=0)
    return (pairs / pairs.abs().max()).T


def synthesise(number: int, seed: int) -> torch.Tensor:
    """Both channels of a tone that moves from the left to the right."""
    generator = torch.Generator().manual_seed(100 * seed + number)
    pitch = 3 + 9 * torch.rand(1, generator=generator)
    time = torch.linspace(0, 1, LENGTH)
    tone = torch.sin(6.28318 * pitch * time)
    return torch.stack([tone * (1 - time), tone * time])
