"""A label that says where a tensor comes from, and is no more than looked at.

kind: recompile limit
advice: outside
"""

import torch


@torch.compile(backend="eager")
def scaled(x, label):
    return x * (2 if label.startswith("a") else 3)  # cause


for label in "abcdefghijkl":
    print(scaled(torch.ones(2), label).tolist())
