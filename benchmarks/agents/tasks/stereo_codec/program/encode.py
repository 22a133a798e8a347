"""Encode recordings, and print how well that went."""

import argparse

from codec import Codec
from sources import read_file, synthesise


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recordings", type=int, default=6)
    given = parser.parse_args()
    codec = Codec()
    for number in range(given.recordings):
        source = synthesise if number % 3 == 2 else read_file
        channels = source(number, given.seed)
        coefficients = codec.encode(channels)
        error = (codec.decode(coefficients) - channels).square().mean().sqrt()
        zeros = (coefficients == 0).float().mean()
        print(f"recording {number}: error {error:.4f}, zeros {zeros:.3f}")


if __name__ == "__main__":
    main()
