"""Draw samples, and print where they are."""

import argparse

import torch
from denoiser import Denoiser
from sampler import Sampler
from schedule import CosineSchedule


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=12)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    sampler = Sampler(Denoiser(), CosineSchedule())
    for number in range(2):
        samples = sampler.sample(torch.randn(16, 2), given.steps)
        mean, spread = samples.mean(dim=0).tolist(), samples.std()
        print(f"batch {number}: mean {mean[0]:.4f} {mean[1]:.4f}, spread {spread:.4f}")


if __name__ == "__main__":
    main()
