"""Learn the energy from measured forces, and print the error."""

import argparse

import torch
from chain import make_states, true_forces
from energy import EnergyNetwork, forces


class Fit:
    """A network with its optimizer."""

    def __init__(self, network: EnergyNetwork, stiffness: float = 1e-3) -> None:
        self.network = network
        self.stiffness = stiffness
        self.optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
        self.compiled_loss = torch.compile(self.loss)

    def loss(self, places: torch.Tensor, measured: torch.Tensor) -> torch.Tensor:
        """The error of the forces, with a penalty on the energy itself."""
        error = (forces(self.network, places) - measured).square().mean()
        return error + self.stiffness * self.network(places).square().mean()

    def step(self, places: torch.Tensor, measured: torch.Tensor) -> float:
        self.optimizer.zero_grad()
        loss = self.compiled_loss(places.requires_grad_(), measured)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=5)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    fit = Fit(EnergyNetwork())
    places = make_states(64, given.seed)
    measured = true_forces(places)
    for number in range(given.steps):
        print(f"step {number}: loss {fit.step(places, measured):.5f}")


if __name__ == "__main__":
    main()
