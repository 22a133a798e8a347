"""Cepstral features: energy in bands of frequency, on a logarithmic scale, decorrelated."""

import logging
import math

import torch
from frames import Framing

logger = logging.getLogger("features")


def band_filters(bands: int, bins: int) -> torch.Tensor:
    """Triangles over the bins of a spectrum, wider for high frequencies."""
    edges = torch.logspace(math.log10(4), math.log10(bins - 1), bands + 2)
    bin_numbers = torch.arange(bins).unsqueeze(1)
    rising = (bin_numbers - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bin_numbers) / (edges[2:] - edges[1:-1])
    return torch.minimum(rising, falling).clamp(min=0.0)


def cosine_basis(bands: int, count: int) -> torch.Tensor:
    """The first vectors of a discrete cosine transform."""
    angles = math.pi / bands * (torch.arange(bands).unsqueeze(1) + 0.5) * torch.arange(count)
    return torch.cos(angles) * math.sqrt(2.0 / bands)


class FeatureExtractor:
    """Features of each frame of a clip."""

    def __init__(self, bands: int = 20, count: int = 12) -> None:
        self.framing = Framing()
        self.filters = band_filters(bands, self.framing.length // 2 + 1)
        self.basis = cosine_basis(bands, count)

    def __call__(self, clip: torch.Tensor) -> torch.Tensor:
        emphasized = clip[1:] - 0.97 * clip[:-1]
        frames = self.framing(emphasized)
        spectrum = torch.fft.rfft(frames).abs().square()
        energies = spectrum @ self.filters
        logger.debug("bands of %d frames", len(energies))
        features = torch.log(energies + 1e-6) @ self.basis
        slope = torch.diff(features, dim=0, prepend=features[:1])
        return torch.cat([features, slope], dim=1)
