"""Caption made-up images, and print the scores of the beams."""

import argparse

import torch
from beam import BeamSearch
from decoder import Decoder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, default=2)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    search = BeamSearch(Decoder())
    for number in range(given.images):
        beam = search.search(torch.randn(8), length=6)
        scores = ", ".join(f"{hypothesis.score:.4f}" for hypothesis in beam)
        print(f"image {number}: last word {int(beam[0].word)}, scores {scores}")


if __name__ == "__main__":
    main()
