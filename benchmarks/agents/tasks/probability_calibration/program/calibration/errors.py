"""How far probabilities are from what happened."""

import torch


def expected_error(probabilities: torch.Tensor, labels: torch.Tensor, bins: int = 5) -> torch.Tensor:
    """The mean distance of confidence and accuracy over bins of equal width."""
    confidence, answers = probabilities.max(dim=-1)
    is_right = (answers == labels).float()
    bin_of = (confidence * bins).long().clamp(max=bins - 1)
    members = torch.nn.functional.one_hot(bin_of, bins).float()
    gap = (members.T @ (confidence - is_right)).abs()
    return gap.sum() / len(labels)
