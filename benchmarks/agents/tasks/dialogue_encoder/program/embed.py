"""Embed dialogues, and print how alike those of a batch are."""

import argparse

import torch
from dialogues import batches
from encoder import Encoder
from vocabulary import Vocabulary


def mean_similarity(vectors: torch.Tensor) -> float:
    """The mean cosine between different rows."""
    products = vectors @ vectors.T
    count = len(vectors)
    return ((products.sum() - products.diagonal().sum()) / (count * (count - 1))).item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batches", type=int, default=4)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    vocabulary = Vocabulary(60)
    encode = torch.compile(Encoder(len(vocabulary)).eval())
    with torch.no_grad():
        for number, batch in enumerate(batches(given.batches, 8, given.seed, vocabulary)):
            vectors = encode(batch.words, batch.lengths)
            print(f"batch {number}: {int(batch.lengths.sum())} words, {mean_similarity(vectors):.4f} alike")


if __name__ == "__main__":
    main()
