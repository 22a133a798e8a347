"""Calibrate the answers of a fault detector, and print how far off they are."""

import argparse
import warnings

import torch
from calibration import FewClasses, TemperatureScaling, expected_error


def make_answers(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits that are too sure of themselves, and the right labels."""
    labels = torch.randint(0, 2, (count,), generator=generator)
    sure = 2.0 * torch.nn.functional.one_hot(labels, 2)
    return sure + 1.5 * torch.randn(count, 2, generator=generator), labels


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batches", type=int, default=3)
    given = parser.parse_args()
    generator = torch.Generator().manual_seed(given.seed)
    scaling = TemperatureScaling(torch.tensor([3.0, 2.0]))
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always", FewClasses)
        for number in range(given.batches):
            logits, labels = make_answers(40, generator)
            before = expected_error(torch.softmax(logits, dim=-1), labels)
            after = expected_error(scaling(logits), labels)
            print(f"batch {number}: error {before:.4f} before, {after:.4f} after")
    print(f"warnings: {sum(warning.category is FewClasses for warning in caught)}")


if __name__ == "__main__":
    main()
