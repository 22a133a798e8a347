"""Transactions that are made up: amounts, hours and shops, a few of them fraud, many without a label."""

from dataclasses import dataclass

import torch

FEATURES = 12
NO_LABEL = -1


@dataclass(frozen=True)
class Transactions:
    """Features of each, and 1 for fraud, 0 for none, -1 where nobody has looked."""

    features: torch.Tensor
    labels: torch.Tensor


def draw(count: int, generator: torch.Generator) -> Transactions:
    """Some transactions; fraud has larger amounts at odd hours."""
    is_fraud = torch.rand(count, generator=generator) < 0.2
    features = torch.randn(count, FEATURES, generator=generator)
    features[:, 0] += 2.0 * is_fraud
    features[:, 1] -= 1.5 * is_fraud
    is_unknown = torch.rand(count, generator=generator) < 0.4
    labels = torch.where(is_unknown, torch.tensor(NO_LABEL), is_fraud.long())
    return Transactions(features, labels)
