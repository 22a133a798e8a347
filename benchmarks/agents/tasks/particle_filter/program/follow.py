"""Follow a robot, and print how far off the filter is."""

import argparse

from filtering import ParticleFilter
from robot import walk
from state import scattered


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--particles", type=int, default=300)
    given = parser.parse_args()
    followed = ParticleFilter(scattered(given.particles, given.seed), given.seed)
    for number, seen in enumerate(walk(given.steps, given.seed)):
        followed.observe(seen.motion, seen.distances)
        if number % 5 == 4:
            error = (followed.belief.mean() - seen.position).norm().item()
            change = (followed.belief.mean() - followed.before.mean()).norm().item()
            print(f"step {number}: {error:.3f} off, corrected by {change:.3f}")


if __name__ == "__main__":
    main()
