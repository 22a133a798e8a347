"""A matcher of boxes tries each permutation, and keeps the best.

kind: fell back to eager
advice: choose behind the loop

Made after a pattern common in detection (DETR's matcher).
"""

import itertools

import torch
import torch.nn.functional as F
from torch import nn


def assign(cost):
    best, chosen = float("inf"), None
    for permutation in itertools.permutations(range(cost.shape[0]), cost.shape[1]):
        total = sum(cost[row, column] for column, row in enumerate(permutation))
        if total < best:  # cause
            best, chosen = total, permutation
    return chosen


class Matcher:
    @torch.no_grad()
    def __call__(self, boxes, targets):
        matches = []
        for predicted, wanted in zip(boxes, targets):
            cost = torch.cdist(predicted, wanted, p=1).cpu().numpy()
            rows = assign(cost)
            matches.append(torch.as_tensor(rows, dtype=torch.long))
        return matches


class Criterion(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 4)
        self.matcher = Matcher()

    def forward(self, queries, targets):
        boxes = self.head(queries).sigmoid()
        matches = self.matcher(boxes, targets)
        return sum(F.l1_loss(b[m], t) for b, m, t in zip(boxes, matches, targets))


torch.manual_seed(0)
criterion = Criterion()
optimizer = torch.optim.Adam(criterion.parameters(), lr=1e-2)
compiled = torch.compile(criterion, backend="eager")
for i in range(4):
    queries, targets = torch.randn(2, 4, 8), torch.rand(2, 2, 4)
    loss = compiled(queries, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(i, f"{loss.item():.4f}")
