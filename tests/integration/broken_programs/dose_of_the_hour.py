"""A list of Python's is indexed by what a tensor holds, which no setting makes part of a graph.

kind: graph break
advice: index by the tensor
"""

import torch

PARTS = [1.0, 0.0, 0.5, 0.0]


def dose(hour, amount):
    slot = int(hour.item()) // 6 % len(PARTS)  # cause
    return amount * PARTS[slot]


@torch.compile(backend="eager")
def step(blood, hour):
    return blood * 0.9 + dose(hour, 4.0)


blood = torch.ones(3)
for hour in range(0, 24, 5):
    blood = step(blood, torch.tensor(hour))
print(blood.tolist())
