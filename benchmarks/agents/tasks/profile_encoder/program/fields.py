"""What may be known of a user."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Field:
    """A part of a profile, and how many numbers describe it."""

    name: str
    size: int


FIELDS = (Field("age", 2), Field("places", 5), Field("purchases", 6), Field("likes", 4))


def make_profile(generator: torch.Generator) -> dict[str, torch.Tensor]:
    """A profile in which each field is known with a probability of one half, one at least."""
    values = {field.name: torch.randn(field.size, generator=generator) for field in FIELDS}
    known = torch.rand(len(FIELDS), generator=generator) < 0.5
    names = [field.name for field, is_known in zip(FIELDS, known.tolist(), strict=True) if is_known]
    return {name: values[name] for name in names or ["age"]}
