"""Predict the next return of some series, and print it."""

import argparse

import torch
from model import PriceTransformer
from series import make_series


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--series", type=int, default=4)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    model = torch.compile(PriceTransformer().eval())
    with torch.no_grad():
        predicted = model(make_series(given.series, given.seed))
    for number, value in enumerate(predicted.tolist()):
        print(f"series {number}: next return {value:.4f}")


if __name__ == "__main__":
    main()
