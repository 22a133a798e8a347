"""Explicit steps in time, by the method of Heun."""

import time

import torch
from grid import Plate
from operators import gradient_norm, laplacian


class HeatSolver:
    """Moves a plate forward in time, and keeps how long each stage of a step took."""

    def __init__(self, plate: Plate, step: float = 0.5, cooling: float = 0.002) -> None:
        self.temperature = plate.temperature.clone()
        self.diffusivity = plate.diffusivity
        self.step = step
        self.cooling = cooling
        self.seconds = {"predict": 0.0, "correct": 0.0}
        self._advance = torch.compile(self._heun)

    def _slope(self, temperature: torch.Tensor) -> torch.Tensor:
        return self.diffusivity * laplacian(temperature) - self.cooling * temperature

    def _heun(self, temperature: torch.Tensor) -> torch.Tensor:
        begun = time.perf_counter()
        first = self._slope(temperature)
        predicted = temperature + self.step * first
        middle = time.perf_counter()
        second = self._slope(predicted)
        corrected = temperature + 0.5 * self.step * (first + second)
        self.seconds["predict"] += middle - begun
        self.seconds["correct"] += time.perf_counter() - middle
        return corrected

    def advance(self, count: int) -> None:
        """Make so many steps."""
        for _ in range(count):
            self.temperature = self._advance(self.temperature)

    @property
    def total_seconds(self) -> float:
        """The time that all steps took."""
        return sum(self.seconds.values())

    def figures(self) -> tuple[float, float, float]:
        """The heat that is left, the hottest point, and the steepest place."""
        steepest = gradient_norm(self.temperature).max()
        return self.temperature.sum().item(), self.temperature.max().item(), steepest.item()
