"""The last stage before a track is written: limit, shape, dither."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Format:
    """How samples are stored."""

    bits: int = 16

    @property
    def step(self) -> float:
        """The distance between neighbouring sample values."""
        return 2.0 ** (1 - self.bits)


def limited(samples: torch.Tensor, ceiling: float = 0.95) -> torch.Tensor:
    """Samples that bend softly below a ceiling."""
    return ceiling * torch.tanh(samples / ceiling)


class MasteringChain:
    """Writes tracks in one format; its dither can be repeated by the seed."""

    def __init__(self, target: Format, seed: int) -> None:
        self.target = target
        self.noise = torch.Generator().manual_seed(seed)
        self.render = torch.compile(self.process)

    def process(self, samples: torch.Tensor) -> torch.Tensor:
        """Samples on the grid of the format, with triangular dither before rounding."""
        loud = limited(samples - samples.mean(dim=-1, keepdim=True))
        peak = loud.abs().amax(dim=-1, keepdim=True)
        scaled = loud * (0.9 / peak.clamp(min=1e-6))
        first = torch.rand(samples.shape, generator=self.noise)
        second = torch.rand(samples.shape, generator=self.noise)
        step = self.target.step
        return torch.round((scaled + (first - second) * step) / step) * step
