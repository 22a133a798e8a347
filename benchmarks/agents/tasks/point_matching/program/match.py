"""Match pairs of clouds, and print how many points were matched rightly."""

import argparse

from clouds import POINTS, make_pairs
from transport import Matcher


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    matcher = Matcher()
    for number, pair in enumerate(make_pairs(given.pairs, given.seed)):
        shares = matcher.match(pair)
        right = int((shares.argmax(dim=1) == pair.partners).sum())
        print(f"pair {number}: {right} of {POINTS} right, surest share {shares.max():.4f}")


if __name__ == "__main__":
    main()
