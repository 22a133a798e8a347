"""Forecast the sales of a shop day by day, and print the error of each week."""

import argparse

import torch
from calendar_days import kind_of
from smoothing import SeasonalSmoothing

PRODUCTS = 6


def make_sales(number: int, generator: torch.Generator) -> torch.Tensor:
    """What was sold on a day."""
    usual = 12 + 0.1 * number + torch.randn(PRODUCTS, generator=generator)
    return usual * kind_of(number).value


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weeks", type=int, default=2)
    given = parser.parse_args()
    generator = torch.Generator().manual_seed(given.seed)
    smoothing = SeasonalSmoothing(PRODUCTS)
    error = 0.0
    for number in range(7 * given.weeks):
        day = kind_of(number)
        sales = make_sales(number, generator)
        error += float((smoothing.forecast(day) - sales).abs().mean())
        smoothing.observe(sales, day)
        if number % 7 == 6:
            print(f"week {number // 7}: mean error {error / 7:.3f}, level {smoothing.level.mean():.3f}")
            error = 0.0


if __name__ == "__main__":
    main()
