"""Replay requests, and print the topic of each."""

import argparse

import torch
from documents import KINDS, make_documents
from network import SharedNetwork


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--requests", type=int, default=8)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    topics_of = torch.compile(SharedNetwork().eval())
    counts = dict.fromkeys(KINDS, 0)
    with torch.inference_mode():
        for document in make_documents(given.requests, given.seed):
            topics = topics_of(document.features, document.kind)
            kind = KINDS[document.kind]
            counts[kind] += 1
            print(f"{kind} {counts[kind]}: topic {int(topics.argmax())}, probability {topics.max():.4f}")


if __name__ == "__main__":
    main()
