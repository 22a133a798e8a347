"""How the answers of members become one decision."""

from dataclasses import dataclass

import torch


@dataclass
class Decision:
    """The class for each sample, how sure the ensemble is, and how much its members disagree."""

    classes: torch.Tensor
    certainty: torch.Tensor
    disagreement: torch.Tensor


def sharpened(probabilities: torch.Tensor, power: float = 1.5) -> torch.Tensor:
    """Probabilities with the large ones made larger."""
    raised = probabilities.pow(power)
    return raised / raised.sum(dim=-1, keepdim=True)


def vote(logits: list[torch.Tensor]) -> Decision:
    """Weigh members by how sure they are, and add their probabilities."""
    probabilities = [sharpened(torch.softmax(each, dim=-1)) for each in logits]
    total = torch.zeros_like(probabilities[0])
    weight = torch.zeros_like(probabilities[0][:, :1])
    for each in probabilities:
        sure = each.max(dim=-1, keepdim=True).values
        total = total + sure * each
        weight = weight + sure
    mean = total / weight
    spread = sum((each - mean).square().sum(dim=-1) for each in probabilities) / len(probabilities)
    best = mean.max(dim=-1)
    return Decision(best.indices, best.values, spread)
