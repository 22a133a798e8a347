"""A list of what was seen that is one entry longer after each step.

kind: recompile limit
advice: out of the compiled code
"""

import torch

SEEN = []


@torch.compile(backend="eager")
def step(x):
    y = x.sin() * 2
    SEEN.append(y.detach())  # cause
    return y + 1


for value in range(12):
    print(step(torch.full((4,), float(value))).tolist())
print(len(SEEN))
