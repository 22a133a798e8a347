"""The update of a particle filter: move, weigh, draw again."""

import copy

import torch
from robot import BEACONS
from state import Belief


def moved(positions: torch.Tensor, motion: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Each particle goes the way that the robot was told to go, more or less."""
    return (positions + motion + 0.1 * noise).clamp(-1.0, 11.0)


def likelihood(positions: torch.Tensor, distances: torch.Tensor, deviation: float = 0.3) -> torch.Tensor:
    """How well each particle explains the distances, up to a factor."""
    expected = torch.cdist(positions, BEACONS)
    errors = ((expected - distances) / deviation).square().sum(dim=1)
    return torch.exp(-0.5 * (errors - errors.min()))


def systematic(weights: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
    """Which particles are drawn, each about as often as its weight says."""
    count = len(weights)
    places = (torch.arange(count) + offset) / count
    return torch.searchsorted(weights.cumsum(dim=0), places).clamp(max=count - 1)


class ParticleFilter:
    """Keeps a belief, and the one before it."""

    def __init__(self, belief: Belief, seed: int = 0) -> None:
        self.belief = belief
        self.before = belief
        self._generator = torch.Generator().manual_seed(seed)
        self._update = torch.compile(self._updated)

    def observe(self, motion: torch.Tensor, distances: torch.Tensor) -> None:
        """Take one observation into account."""
        noise = torch.randn(self.belief.positions.shape, generator=self._generator)
        offset = torch.rand((), generator=self._generator)
        before, positions, weights = self._update(
            self.belief.positions, self.belief.weights, motion, distances, noise, offset
        )
        self.before = Belief(before, self.belief.weights)
        self.belief = Belief(positions, weights)

    @staticmethod
    def _updated(positions, weights, motion, distances, noise, offset):
        positions = moved(positions, motion, noise)
        before = copy.deepcopy(positions)
        weights = weights * likelihood(positions, distances)
        weights = weights / weights.sum()
        drawn = systematic(weights, offset)
        return before, positions[drawn], torch.full_like(weights, 1.0 / len(weights))
