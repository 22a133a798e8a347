"""A player that mostly takes the machine that looks best, and at times tries another."""

import random

import torch


class Player:
    """Keeps what each machine paid and how often it was tried."""

    def __init__(self, machines: int, curiosity: float = 0.1) -> None:
        self.machines = machines
        self.curiosity = curiosity
        self.paid = torch.zeros(machines)
        self.tries = torch.zeros(machines)
        self.choose = torch.compile(self.pick)

    def worth(self) -> torch.Tensor:
        """An estimate for each machine, higher for those that were hardly tried."""
        mean = self.paid / self.tries.clamp(min=1)
        doubt = torch.sqrt(torch.log1p(self.tries.sum()) / (1 + self.tries))
        return mean + 0.3 * doubt

    def pick(self) -> torch.Tensor:
        """The machine to play next."""
        if random.random() < self.curiosity:
            return torch.tensor(random.randrange(self.machines))
        return self.worth().argmax()

    def learn(self, machine: int, reward: float) -> None:
        self.paid[machine] += reward
        self.tries[machine] += 1
