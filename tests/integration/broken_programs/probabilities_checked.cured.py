"""Probabilities are checked to sum to one: cured."""

import torch
from torch import nn


def check_distribution(probs):
    total = probs.sum(dim=-1)
    if not torch.allclose(total, torch.ones_like(total), atol=1e-4):
        raise ValueError("probabilities do not sum to one")


class MixtureHead(nn.Module):
    def __init__(self, dim=8, k=3):
        super().__init__()
        self.gate = nn.Linear(dim, k)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(k))

    def forward(self, x):
        w = self.gate(x).softmax(-1)
        y = torch.stack([e(x) for e in self.experts], dim=-1)
        return (y * w.unsqueeze(-2)).sum(-1), w


torch.manual_seed(0)
head = torch.compile(MixtureHead(), backend="eager")
with torch.no_grad():
    for n in range(4):
        out, w = head(torch.randn(5, 8))
        check_distribution(w)
        print(f"{out.sum().item():.4f}")
