"""Dialogues from templates, as batches of padded word numbers."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from vocabulary import PADDING, Vocabulary

LONGEST = 10
_PARTS = (
    ("hello", "hi", "good morning"),
    ("i would like", "can i get", "please order"),
    ("a table for two", "some tea", "the large pizza with cheese", "two tickets"),
    ("thanks", "as soon as you can", "today"),
)


@dataclass(frozen=True)
class Batch:
    """Word numbers, and how many of each row are words."""

    words: torch.Tensor
    lengths: torch.Tensor


def batches(count: int, size: int, seed: int, vocabulary: Vocabulary) -> Iterator[Batch]:
    """Batches of one shape, with dialogues of different lengths."""
    chosen = random.Random(seed)
    for _ in range(count):
        rows = []
        for _ in range(size):
            parts = [chosen.choice(part) for part in _PARTS[: chosen.randint(2, len(_PARTS))]]
            rows.append(vocabulary.numbers(" ".join(parts).split())[:LONGEST])
        lengths = torch.tensor([len(row) for row in rows])
        padded = [row + [PADDING] * (LONGEST - len(row)) for row in rows]
        yield Batch(torch.tensor(padded), lengths)
