"""Profiles of users as vectors."""

import torch
from fields import FIELDS
from torch import nn


class ProfileEncoder(nn.Module):
    """The mean of what the known fields of a profile say."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.projections = nn.ModuleDict({field.name: nn.Linear(field.size, width) for field in FIELDS})
        self.output = nn.Linear(width, width)

    def forward(self, **known: torch.Tensor) -> torch.Tensor:
        """A vector of length one; each argument is a field of FIELDS, by its name."""
        parts = [torch.relu(self.projections[name](values)) for name, values in known.items()]
        mean = torch.stack(parts).mean(dim=0)
        return nn.functional.normalize(self.output(mean), dim=0)
