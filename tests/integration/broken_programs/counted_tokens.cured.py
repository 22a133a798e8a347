"""Tokens that were met before get a penalty, by a counter of Python's: cured."""

from collections import Counter

import torch
from torch import nn


class Repetition(nn.Module):
    def __init__(self, strength):
        super().__init__()
        self.strength = strength

    def penalty(self, tokens):
        counts = Counter(tokens[0].tolist())
        frequent = [token for token, times in counts.items() if times > 1]
        penalty = torch.zeros(1, 9)
        penalty[:, frequent] = self.strength
        return penalty

    def forward(self, scores, penalty):
        return scores - penalty


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 9)
        self.repetition = Repetition(2.0)

    def forward(self, tokens, penalty):
        return self.repetition(self.head(self.embed(tokens).mean(1)), penalty).argmax(-1)


torch.manual_seed(0)
plain = Model().eval()
model = torch.compile(plain, backend="eager")
with torch.no_grad():
    for _ in range(4):
        tokens = torch.randint(0, 9, (1, 8))
        print(model(tokens, plain.repetition.penalty(tokens)).tolist())
