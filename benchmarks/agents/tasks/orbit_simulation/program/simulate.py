"""Simulate moons for some steps, and print how well energy is kept."""

import argparse

import torch
from bodies import make_moons
from integrator import Integrator


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=15)
    given = parser.parse_args()
    integrator = Integrator(make_moons(5, given.seed))
    integrator.run(given.steps)
    energies = torch.stack(integrator.energies)
    farthest = integrator.moons.places.square().sum(dim=1).sqrt().max()
    print(f"energy {energies[0]:.5f} at first, {energies[-1]:.5f} after {len(energies)} steps")
    print(f"farthest moon at {farthest:.4f}")


if __name__ == "__main__":
    main()
