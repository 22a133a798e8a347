"""Let the ensemble decide some requests, and print its decisions."""

import argparse

import torch
from members import FEATURES, Pool
from panel import Panel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--requests", type=int, default=12)
    given = parser.parse_args()
    panel = Panel(Pool(8, given.seed))
    generator = torch.Generator().manual_seed(given.seed)
    for number in range(given.requests):
        decision = panel.decide(torch.randn(6, FEATURES, generator=generator))
        certainty, spread = decision.certainty.mean().item(), decision.disagreement.mean().item()
        print(f"request {number}: {decision.classes.tolist()}, {certainty:.4f} sure, {spread:.4f} apart")
    print("answered:", " ".join(str(count) for count in panel.answered.values()))


if __name__ == "__main__":
    main()
