"""Simulate a plate that cools, print its figures, and check that time was taken."""

import argparse

from grid import make_plate
from solver import HeatSolver


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--size", type=int, default=32)
    given = parser.parse_args()
    solver = HeatSolver(make_plate(given.size, given.seed))
    for part in range(2):
        solver.advance(given.steps // 2)
        heat, hottest, steepest = solver.figures()
        print(f"part {part}: heat {heat:.2f}, hottest {hottest:.3f}, steepest {steepest:.3f}")
    print("time was taken" if solver.total_seconds > 0 else "no time was taken")


if __name__ == "__main__":
    main()
