"""Velocity Verlet integration, with a record of the energy."""

import torch
from bodies import Moons, pull


class Integrator:
    """Advances moons by steps of one length."""

    def __init__(self, moons: Moons, step: float = 0.05) -> None:
        self.moons = moons
        self.step = step
        self.energies: list[torch.Tensor] = []
        self._advanced = torch.compile(self.advanced)

    def advanced(self, places: torch.Tensor, speeds: torch.Tensor) -> Moons:
        """Moons one step later."""
        half = speeds + 0.5 * self.step * pull(places)
        moved = places + self.step * half
        after = half + 0.5 * self.step * pull(moved)
        kinetic = 0.5 * after.square().sum(dim=1)
        potential = -moved.square().sum(dim=1).rsqrt()
        self.energies.append((kinetic + potential).sum())
        return Moons(moved, after)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.moons = self._advanced(self.moons.places, self.moons.speeds)
