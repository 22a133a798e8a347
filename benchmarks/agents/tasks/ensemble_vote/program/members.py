"""Members of an ensemble, some of which do not answer in time."""

import random
from dataclasses import dataclass

import torch
from torch import nn

FEATURES, CLASSES = 20, 5


@dataclass(frozen=True)
class Answers:
    """The logits of those that answered, each with a row for each sample."""

    logits: list[torch.Tensor]
    names: list[str]


class Member(nn.Module):
    """A small network with a name."""

    def __init__(self, name: str, width: int) -> None:
        super().__init__()
        self.name = name
        self.layers = nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), nn.Linear(width, CLASSES))

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        return self.layers(samples)


class Pool:
    """Asks all members, and gives what came in time; one always does."""

    def __init__(self, count: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.members = [Member(f"member {number}", 16 + 4 * number) for number in range(count)]
        self._late = random.Random(seed)

    @torch.no_grad()
    def ask(self, samples: torch.Tensor) -> Answers:
        in_time = [member for member in self.members if self._late.random() < 0.7] or self.members[:1]
        return Answers([member(samples) for member in in_time], [member.name for member in in_time])
