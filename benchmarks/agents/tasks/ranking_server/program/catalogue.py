"""Items, and what differs between the countries where they are sold."""

from dataclasses import dataclass

import torch

FEATURES = 16


@dataclass(frozen=True)
class Market:
    """How a country weighs price and delivery, and what it adds to every score."""

    price: float
    delivery: float
    offset: float


MARKETS = {
    "de": Market(0.9, 0.4, 0.00),
    "fr": Market(0.7, 0.5, 0.02),
    "jp": Market(0.4, 0.9, 0.05),
    "br": Market(1.2, 0.2, -0.03),
    "in": Market(1.4, 0.3, -0.05),
    "us": Market(0.6, 0.8, 0.01),
}


def make_items(count: int, seed: int) -> torch.Tensor:
    """Features of items: price, days of delivery, and others that mean nothing to us."""
    return torch.rand(count, FEATURES, generator=torch.Generator().manual_seed(seed))
