"""A pole on a cart, and transitions between its states."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Transitions:
    """States before and after actions, and the rewards."""

    states: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor
    after: torch.Tensor


def make_transitions(count: int, generator: torch.Generator) -> Transitions:
    """Pushes to the left (0) or right (1) from states near the middle; upright poles are rewarded."""
    states = 0.3 * torch.randn(count, 4, generator=generator)
    actions = torch.randint(0, 2, (count,), generator=generator)
    place, speed, angle, turning = states.unbind(dim=1)
    push = 2.0 * actions - 1
    after = torch.stack(
        [place + 0.02 * speed, speed + 0.2 * push, angle + 0.02 * turning, turning + 0.3 * (angle - push)],
        dim=1,
    )
    return Transitions(states, actions, 1 - after[:, 2].abs(), after)
