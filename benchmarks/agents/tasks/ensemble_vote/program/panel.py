"""The ensemble as a whole."""

import torch
from members import Pool
from voting import Decision, vote


class Panel:
    """Decides by the members that answer in time, and counts how often each did."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.vote = torch.compile(vote)
        self.answered = {member.name: 0 for member in pool.members}

    def decide(self, samples: torch.Tensor) -> Decision:
        answers = self.pool.ask(samples)
        for name in answers.names:
            self.answered[name] += 1
        return self.vote(answers.logits)
