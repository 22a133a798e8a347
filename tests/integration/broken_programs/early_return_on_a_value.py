"""A function that returns early, by what a tensor holds.

kind: graph break
advice: torch.where
"""

import torch


def scored(x):
    total = x.softmax(0).max()
    if total > 0.9:  # cause
        return x * 0
    return x / total


def model(x):
    return scored(x.exp()) + 1


compiled = torch.compile(model, backend="eager")
print(compiled(torch.tensor([0.1, 0.2, 0.3])).tolist())
print(compiled(torch.tensor([0.1, 0.2, 9.0])).tolist())
