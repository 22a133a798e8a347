"""Tokens that would repeat a pair of tokens are banned, by lists of Python's: cured."""

import torch
from torch import nn


def banned_tokens(tokens, size):
    banned = []
    for row in tokens.tolist():
        seen = {}
        for i in range(len(row) - size + 1):
            gram = tuple(row[i : i + size])
            seen.setdefault(gram[:-1], []).append(gram[-1])
        banned.append(seen.get(tuple(row[len(row) - size + 1 :]), []))
    return banned


class NoRepeat:
    def __init__(self, size):
        self.size = size

    def __call__(self, tokens, scores):
        for i, tokens_of_row in enumerate(banned_tokens(tokens, self.size)):
            scores[i, tokens_of_row] = -float("inf")
        return scores


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=12, dim=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(vocabulary, dim), nn.Linear(dim, vocabulary)
        self.processors = [NoRepeat(2)]

    def forward(self, tokens):
        return self.head(self.embed(tokens[:, -8:]).mean(1)).log_softmax(-1)


torch.manual_seed(0)
model = LanguageModel().eval()
compiled = torch.compile(model, backend="eager", dynamic=True)
tokens = torch.randint(0, 12, (2, 8))
with torch.no_grad():
    for _ in range(6):
        scores = compiled(tokens)
        for processor in model.processors:
            scores = processor(tokens, scores)
        tokens = torch.cat([tokens, scores.argmax(-1, keepdim=True)], dim=1)
print(tokens.tolist())
