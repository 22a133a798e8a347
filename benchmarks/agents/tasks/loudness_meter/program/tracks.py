"""Tracks that are made up: bursts of tones at different levels."""

import math

import torch

RATE = 4000
LENGTH = 8192


def make_track(seed: int) -> torch.Tensor:
    """One track with two channels."""
    generator = torch.Generator().manual_seed(seed)
    time = torch.arange(LENGTH) / RATE
    pitches = 100 + 900 * torch.rand(2, 1, generator=generator)
    tone = torch.sin(2 * math.pi * pitches * time)
    levels = torch.rand(16, generator=generator).repeat_interleave(LENGTH // 16)
    return tone * levels + 0.01 * torch.randn(2, LENGTH, generator=generator)
