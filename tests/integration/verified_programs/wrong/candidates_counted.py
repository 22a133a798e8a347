"""An operator of the program's gives more candidates than its function for tracing says.

Planted.
kind: value
stage: tracing
"""

import torch


@torch.library.custom_op("corpus::candidates", mutates_args=())
def candidates(scores: torch.Tensor) -> torch.Tensor:
    return scores[scores > 0].sort(descending=True).values


@candidates.register_fake
def candidates_fake(scores):
    return scores.new_empty(2)


class Ranking:
    def __init__(self, decay):
        self.decay = decay

    def kept(self, scores):
        scores = scores - scores.mean()
        return candidates(scores)  # cause

    def total(self, scores):
        best = self.kept(scores)
        total, weight = scores.new_zeros(()), 1.0
        for place in range(len(best)):
            total = total + best[place] * weight
            weight = weight * self.decay
        return total


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ranking = Ranking(0.5)

    def forward(self, x):
        x = torch.sin(x) * 2.0
        return self.ranking.total(x).exp()


model = torch.compile(Model(), backend="eager")
print(model(torch.arange(8.0)))
