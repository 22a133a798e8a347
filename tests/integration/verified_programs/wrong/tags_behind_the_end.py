"""Tags behind the -1 that ends a list of them are taken for tags.

An idea of our own.

kind: value
stage: AOTAutograd
"""

import torch
import torch.nn.functional as F
from torch import nn


def margin(scores, tags):
    return F.multilabel_margin_loss(scores, tags)  # cause


def smooth(scores):
    return (scores - scores.mean()).pow(2).mean()


def both(scores, tags):
    regular = smooth(scores)
    return margin(scores, tags) + 0.1 * regular


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(3, 4)
        self.head = nn.Linear(4, 4)

    def forward(self, x, tags):
        hidden = torch.relu(self.embed(x))
        scores = self.head(hidden)
        return both(scores, tags)


torch.manual_seed(0)
net = torch.compile(Tagger())
tags = torch.tensor([[0, 1, -1, 2], [3, -1, 0, 0]])
print(round(net(torch.randn(2, 3), tags).item(), 4))
