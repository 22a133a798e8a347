"""Evaluate a classifier on made-up leaves, and print its score."""

import argparse

import torch
from classifier import LeafClassifier
from evaluation import Evaluation
from leaves import make_leaves


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, default=65)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    score = Evaluation(LeafClassifier()).run(make_leaves(given.images, given.seed))
    print(f"{score.leaves} leaves: loss {score.loss:.4f}, accuracy {score.accuracy:.3f}")


if __name__ == "__main__":
    main()
