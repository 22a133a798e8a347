"""The list grows outside of what is compiled."""

import torch

SEEN = []


@torch.compile(backend="eager")
def step(x):
    y = x.sin() * 2
    return y + 1, y.detach()


for value in range(12):
    result, seen = step(torch.full((4,), float(value)))
    SEEN.append(seen)
    print(result.tolist())
print(len(SEEN))
