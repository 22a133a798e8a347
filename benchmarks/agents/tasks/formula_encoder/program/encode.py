"""Encode formulas, and print them with the length of their vectors."""

import argparse
import random

import torch
from encoder import FormulaEncoder
from formulas import make_formula


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formulas", type=int, default=7)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    generator = random.Random(given.seed)
    encode = torch.compile(FormulaEncoder())
    with torch.no_grad():
        for _ in range(given.formulas):
            formula = make_formula(generator, depth=3)
            print(f"{encode(formula).norm():.4f}  {formula}")


if __name__ == "__main__":
    main()
