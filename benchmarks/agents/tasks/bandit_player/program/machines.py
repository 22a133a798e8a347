"""Slot machines that pay with a probability which the player does not know."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Hall:
    """Some machines, by their probability to pay."""

    chances: torch.Tensor

    def __len__(self) -> int:
        return len(self.chances)

    def pull(self, machine: int, luck: float) -> float:
        """What a machine pays to a player with some luck, between 0 and 1."""
        return 1.0 if luck < float(self.chances[machine]) else 0.0


def make_hall(machines: int, seed: int) -> Hall:
    """Machines of which the best pays about twice as often as the others."""
    generator = torch.Generator().manual_seed(seed)
    chances = 0.2 + 0.2 * torch.rand(machines, generator=generator)
    best = int(torch.randint(machines, (1,), generator=generator))
    chances[best] = 0.7
    return Hall(chances)
