"""Convert readings of an oven, and print temperatures."""

import argparse

import torch
from pipeline import Oven
from tables import TYPE_K


def make_readings(number: int, seed: int) -> torch.Tensor:
    """Volts of four sensors, while the oven heats up."""
    generator = torch.Generator().manual_seed(100 * seed + number)
    heating = torch.linspace(0.002, 0.02 + 0.002 * number, 24)
    return heating + 0.0004 * torch.randn(4, 24, generator=generator)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--readings", type=int, default=4)
    given = parser.parse_args()
    oven = Oven(TYPE_K)
    for number in range(given.readings):
        temperatures = oven.convert(make_readings(number, given.seed))
        print(f"reading {number}: {temperatures[0]:.3f} to {temperatures.max():.3f} degrees")


if __name__ == "__main__":
    main()
