"""Learn to balance, and print the loss."""

import argparse

import torch
from learner import Learner, make_network
from pole import make_transitions


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=8)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    generator = torch.Generator().manual_seed(given.seed)
    learner = Learner(make_network())
    for number in range(given.steps):
        loss = learner.learn(make_transitions(32, generator))
        if number % 4 == 3:
            learner.renew()
            print(f"step {number}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
