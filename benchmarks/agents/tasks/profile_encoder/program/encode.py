"""Encode profiles of users, and print how alike neighbours are."""

import argparse

import torch
from encoder import ProfileEncoder
from fields import make_profile


class Directory:
    """Vectors of the users who were encoded."""

    def __init__(self, encoder: ProfileEncoder) -> None:
        self.encode = torch.compile(encoder)
        self.vectors: list[torch.Tensor] = []

    @torch.no_grad()
    def add(self, profile: dict[str, torch.Tensor]) -> None:
        self.vectors.append(self.encode(**profile))

    def likeness(self, first: int, second: int) -> float:
        """The cosine of two users."""
        return float(self.vectors[first] @ self.vectors[second])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--users", type=int, default=8)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    generator = torch.Generator().manual_seed(given.seed)
    directory = Directory(ProfileEncoder())
    for number in range(given.users):
        profile = make_profile(generator)
        directory.add(profile)
        if number:
            likeness = directory.likeness(number - 1, number)
            print(f"user {number} has {len(profile)} known fields, likeness {likeness:.4f}")


if __name__ == "__main__":
    main()
