"""Durations of phonemes, in frames."""

import torch

FRAMES = 40


def whole_frames(shares: torch.Tensor, frames: int = FRAMES) -> torch.Tensor:
    """Positive shares that sum to one, as whole frames that sum to `frames`."""
    ends = torch.round(torch.cumsum(shares, dim=0) * frames).long()
    return torch.diff(ends, prepend=ends.new_zeros(1))


def stretched(phonemes: torch.Tensor, durations: torch.Tensor) -> torch.Tensor:
    """Each phoneme repeated for as many frames as it lasts."""
    return torch.repeat_interleave(phonemes, durations, dim=0)
