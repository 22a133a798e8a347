"""Reviews made of words from two vocabularies, one for each opinion."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

VOCABULARY = 400
LENGTH = 24
_HALF = VOCABULARY // 2


@dataclass(frozen=True)
class Batch:
    """Token ids of some reviews, and their labels."""

    tokens: torch.Tensor
    labels: torch.Tensor


def make_reviews(count: int, seed: int) -> Batch:
    """Draw reviews, of which two thirds of the words give the opinion away."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (count,), generator=generator)
    common = torch.randint(0, VOCABULARY, (count, LENGTH), generator=generator)
    telling = torch.randint(0, _HALF, (count, LENGTH), generator=generator) + labels[:, None] * _HALF
    is_telling = torch.rand(count, LENGTH, generator=generator) < 0.66
    return Batch(torch.where(is_telling, telling, common), labels)


def batches(reviews: Batch, size: int) -> Iterator[Batch]:
    """Batches of one size; what is left over is dropped."""
    for begin in range(0, len(reviews.labels) - size + 1, size):
        end = begin + size
        yield Batch(reviews.tokens[begin:end], reviews.labels[begin:end])
