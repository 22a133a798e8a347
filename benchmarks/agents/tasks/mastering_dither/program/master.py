"""Master some tracks, and print levels of what would be written."""

import argparse

from chain import Format, MasteringChain
from tracks import make_track


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tracks", type=int, default=4)
    given = parser.parse_args()
    chain = MasteringChain(Format(bits=8), given.seed)
    for number in range(given.tracks):
        written = chain.render(make_track(number, given.seed))
        level = written.square().mean().sqrt()
        print(f"track {number}: level {level:.4f}, peak {written.abs().max():.4f}")


if __name__ == "__main__":
    main()
