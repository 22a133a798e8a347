"""Distil a teacher, and print loss and agreement."""

import argparse

import torch
from distillation import Distillation
from networks import make_inputs, make_network


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=6)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    generator = torch.Generator().manual_seed(given.seed)
    distillation = Distillation(make_network(48), make_network(8))
    for number in range(given.steps):
        loss = distillation.step(make_inputs(32, generator))
        if number % 2 == 0:
            print(f"step {number}: loss {loss:.5f}")
    print(f"agreement {distillation.agreement(make_inputs(200, generator)):.2f}")


if __name__ == "__main__":
    main()
