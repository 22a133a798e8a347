"""Watch batches of connections, and print the alarms."""

import argparse

import torch
from baseline import Baseline
from detector import Detector
from traffic import make_connections


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batches", type=int, default=5)
    given = parser.parse_args()
    generator = torch.Generator().manual_seed(given.seed)
    detector = Detector(Baseline())
    for number in range(given.batches):
        alarms = detector.alarms(make_connections(32, number % 4, generator))
        print(f"batch {number}: {int(alarms.sum())} alarms, usual mean {detector.baseline.mean.mean():.4f}")


if __name__ == "__main__":
    main()
