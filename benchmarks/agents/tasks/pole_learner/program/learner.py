"""Learns the value of actions from transitions."""

import copy

import torch
from pole import Transitions
from torch import nn


def make_network(width: int = 16) -> nn.Module:
    """The values of both actions in a state."""
    return nn.Sequential(
        nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)
    )


class Learner:
    """A network that is trained, and an older copy of it that gives the targets."""

    def __init__(self, network: nn.Module, discount: float = 0.9) -> None:
        self.network = network
        self.older = copy.deepcopy(network)
        self.discount = discount
        self.optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        self.values = torch.compile(self.values_of)

    def values_of(self, network: nn.Module, states: torch.Tensor) -> torch.Tensor:
        """The values of both actions in each state, bounded by what is possible."""
        most = 1 / (1 - self.discount)
        return most * torch.tanh(network(states) / most)

    @torch.no_grad()
    def targets(self, transitions: Transitions) -> torch.Tensor:
        """What the actions were worth, by the better one of the next."""
        best = self.values(self.network, transitions.after).argmax(dim=1, keepdim=True)
        worth = self.values_of(self.older, transitions.after).gather(1, best)[:, 0]
        return transitions.rewards + self.discount * worth

    def learn(self, transitions: Transitions) -> float:
        """One step of training; gives the loss before it."""
        targets = self.targets(transitions)
        values = self.values(self.network, transitions.states)
        chosen = values.gather(1, transitions.actions[:, None])[:, 0]
        loss = (chosen - targets).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def renew(self) -> None:
        """Let the older copy catch up."""
        self.older.load_state_dict(self.network.state_dict())
