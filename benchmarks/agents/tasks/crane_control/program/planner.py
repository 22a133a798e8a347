"""Plans pushes by trying many and moving to the better ones."""

from collections.abc import Callable

import torch
from crane import Load, positions

HORIZON = 8
Cost = Callable[[torch.Tensor], torch.Tensor]


def cost_of(load: Load) -> Cost:
    """What a plan costs for a load: distance to the target, swing and effort."""
    stiffness = 9.81 / load.rope

    def cost(pushes: torch.Tensor) -> torch.Tensor:
        distance = positions(pushes) - load.target
        swing = torch.diff(pushes, dim=1).square().sum(dim=1) / stiffness
        effort = pushes.square().sum(dim=1)
        arrival = distance[:, -3:].square().sum(dim=1)
        return arrival + 0.1 * distance.square().mean(dim=1) + 0.3 * swing + 0.05 * effort

    return torch.compile(cost)


class Planner:
    """Draws plans around the best ones of the round before."""

    def __init__(self, seed: int, plans: int = 48, rounds: int = 4) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.plans = plans
        self.rounds = rounds

    def plan(self, load: Load) -> tuple[torch.Tensor, float]:
        """Pushes for a load, and what they cost."""
        cost = cost_of(load)
        mean, spread = torch.zeros(HORIZON), torch.ones(HORIZON)
        for _ in range(self.rounds):
            noise = torch.randn(self.plans, HORIZON, generator=self.generator)
            pushes = mean + spread * noise
            best = pushes[torch.topk(-cost(pushes), 8).indices]
            mean, spread = best.mean(dim=0), best.std(dim=0)
        return mean, float(cost(mean.expand(self.plans, -1).contiguous())[0])
