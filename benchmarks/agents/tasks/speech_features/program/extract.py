"""Print a line of features for each clip."""

import argparse
import logging

import torch
from clips import make_clip
from features import FeatureExtractor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clips", type=int, default=4)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if given.verbose else logging.WARNING)
    extract = torch.compile(FeatureExtractor())
    for number in range(given.clips):
        features = extract(make_clip(number, given.seed))
        means = features.mean(dim=0)[:4].tolist()
        print(f"clip {number}: {len(features)} frames, " + " ".join(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    main()
