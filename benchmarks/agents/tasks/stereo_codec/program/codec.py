"""A small transform codec: middle and side, blocks, rounded coefficients."""

import math

import torch

BLOCK = 16


def cosine_basis(size: int) -> torch.Tensor:
    """An orthonormal basis of cosines, one in each row."""
    place = torch.arange(size)
    basis = torch.cos(math.pi / size * (place + 0.5) * place[:, None])
    basis[0] /= math.sqrt(2)
    return basis * math.sqrt(2 / size)


class Codec:
    """Encodes recordings with a step of rounding that grows with the frequency."""

    def __init__(self, step: float = 0.05) -> None:
        self.basis = cosine_basis(BLOCK)
        self.steps = step * (1 + torch.arange(BLOCK) / 8)
        self.encode = torch.compile(self.coefficients)

    def coefficients(self, channels: torch.Tensor) -> torch.Tensor:
        """Whole numbers for each block of the middle and of the side."""
        left, right = channels
        both = torch.stack([(left + right) / 2, (left - right) / 2])
        blocks = both.reshape(2, -1, BLOCK)
        return torch.round(blocks @ self.basis.T / self.steps)

    def decode(self, coefficients: torch.Tensor) -> torch.Tensor:
        """Channels, nearly as they were."""
        middle, side = ((coefficients * self.steps) @ self.basis).flatten(start_dim=1)
        return torch.stack([middle + side, middle - side])
