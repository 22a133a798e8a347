"""A network for the energy, and forces that follow from it."""

import torch
from chain import MASSES
from torch import nn


class EnergyNetwork(nn.Module):
    """Gives the energy of each state."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.first = nn.Linear(MASSES, width)
        self.second = nn.Linear(width, 1)

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        return self.second(nn.functional.softplus(self.first(places))).squeeze(-1)


def forces(network: EnergyNetwork, places: torch.Tensor) -> torch.Tensor:
    """The negative gradient of the energy by the places."""
    energy = network(places)
    (gradient,) = torch.autograd.grad(energy.sum(), places, create_graph=True)
    return -gradient
