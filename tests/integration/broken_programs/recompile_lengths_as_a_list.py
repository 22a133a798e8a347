"""Documents of several lengths are packed into one row, with a list of their lengths.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after a pattern common in collate functions (lengths as a list of numbers).
"""

import random

import torch
from torch import nn


class DocPooler(nn.Module):
    def __init__(self, vocab=50, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, 3)

    def forward(self, tokens, lengths):
        x = self.emb(tokens)  # cause
        docs = x.split(lengths)
        pooled = torch.stack([d.mean(0) for d in docs])
        return self.out(pooled)


def collate(rng, docs=3):
    lengths = [rng.randint(3, 12) for _ in range(docs)]
    return torch.randint(0, 50, (sum(lengths),)), lengths


torch.manual_seed(0)
rng = random.Random(0)
model = DocPooler()
fast = torch.compile(model, backend="eager")
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for it in range(7):
    tokens, lengths = collate(rng)
    loss = fast(tokens, lengths).logsumexp(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, f"{loss.item():.4f}")
