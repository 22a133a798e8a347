"""Loudness of a track, and its range."""

from dataclasses import dataclass

import torch
from filters import Emphasis
from torch import nn

_SILENCE_DB = -70.0


def percentile(levels: torch.Tensor, share: float) -> torch.Tensor:
    """The level below which a share of all is, linear between the two that are nearest."""
    ordered = sorted(levels.tolist())
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return torch.tensor(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


@dataclass
class Measured:
    """Loudness in decibels: of the whole, and between the quiet and the loud parts; and the peak."""

    loudness: torch.Tensor
    range: torch.Tensor
    peak: torch.Tensor


class LoudnessMeter(nn.Module):
    """Measures blocks that overlap, and leaves out those that are silent."""

    def __init__(self, block: int = 512, step: int = 128) -> None:
        super().__init__()
        self.block = block
        self.step = step
        self.emphasis = Emphasis()

    def block_levels(self, track: torch.Tensor) -> torch.Tensor:
        """The level of each block in decibels, of both channels together."""
        blocks = self.emphasis(track).unfold(-1, self.block, self.step)
        power = blocks.square().mean(dim=-1).sum(dim=0)
        return 10.0 * torch.log10(power + 1e-10)

    def forward(self, track: torch.Tensor) -> Measured:
        levels = self.block_levels(track)
        quiet, loud = percentile(levels, 0.10), percentile(levels, 0.95)
        is_heard = (levels > _SILENCE_DB).float()
        power = torch.pow(10.0, levels / 10.0)
        loudness = 10.0 * torch.log10((power * is_heard).sum() / is_heard.sum().clamp(min=1.0))
        return Measured(loudness, loud - quiet, track.abs().max())
