"""Measure some tracks and print a line for each."""

import argparse

import torch
from meter import LoudnessMeter
from report import line, loudest
from tracks import make_track


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tracks", type=int, default=4)
    given = parser.parse_args()
    meter = torch.compile(LoudnessMeter())
    measured = {}
    with torch.no_grad():
        for number in range(given.tracks):
            name = f"track {number}"
            measured[name] = meter(make_track(100 * given.seed + number))
            print(line(name, measured[name]))
    print(f"the loudest is {loudest(measured)}")


if __name__ == "__main__":
    main()
