"""Tokens that were met before get a penalty, by a counter of Python's.

kind: graph break
advice: before the call

Made after a pattern common in text generation (repetition penalties).
"""

from collections import Counter

import torch
from torch import nn


class Repetition(nn.Module):
    def __init__(self, strength):
        super().__init__()
        self.strength = strength

    def forward(self, tokens, scores):
        counts = Counter(tokens[0].tolist())  # cause
        frequent = [token for token, times in counts.items() if times > 1]
        penalty = torch.zeros_like(scores)
        penalty[:, frequent] = self.strength
        return scores - penalty


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 9)
        self.repetition = Repetition(2.0)

    def forward(self, tokens):
        return self.repetition(tokens, self.head(self.embed(tokens).mean(1))).argmax(-1)


torch.manual_seed(0)
model = torch.compile(Model().eval(), backend="eager")
with torch.no_grad():
    for _ in range(4):
        print(model(torch.randint(0, 9, (1, 8))).tolist())
