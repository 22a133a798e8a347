"""Fit a noisy wave and continue it."""

import argparse
import math

import torch
from forecast import Forecaster, fit, forecast


def wave(count: int, seed: int) -> torch.Tensor:
    time = torch.arange(count, dtype=torch.float32)
    noise = torch.randn(count, generator=torch.Generator().manual_seed(seed))
    return torch.sin(time * 2 * math.pi / 25) + 0.05 * noise


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=24)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    model = Forecaster()
    series = wave(200, given.seed)
    losses = fit(model, series, given.steps)
    print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
    print("forecast", " ".join(f"{value:.3f}" for value in forecast(model, series, 5).tolist()))


if __name__ == "__main__":
    main()
