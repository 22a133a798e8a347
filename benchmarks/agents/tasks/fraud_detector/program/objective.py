"""What training makes small."""

import torch
from torch.nn import functional
from transactions import NO_LABEL


def focal_weights(logits: torch.Tensor, labels: torch.Tensor, power: float = 2.0) -> torch.Tensor:
    """Small for what the model is sure of and right about."""
    probability = torch.sigmoid(logits)
    sure = torch.where(labels > 0, probability, 1.0 - probability)
    return (1.0 - sure).pow(power)


def focal_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean over the transactions that have a label."""
    is_known = labels != NO_LABEL
    known_logits = logits[is_known]
    known_labels = labels[is_known].float()
    losses = functional.binary_cross_entropy_with_logits(known_logits, known_labels, reduction="none")
    return (focal_weights(known_logits, known_labels) * losses).mean()


def confidence_penalty(logits: torch.Tensor, strength: float = 0.01) -> torch.Tensor:
    """Keeps logits small, also where there is no label."""
    return strength * logits.square().mean()
