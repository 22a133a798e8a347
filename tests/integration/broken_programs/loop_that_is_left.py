"""A loop that is left by what a tensor holds.

kind: fell back to eager
advice: leave the loop to Python
"""

import torch


@torch.compile(backend="eager")
def decoded(x):
    for _ in range(3):
        x = x.sin() + 1
        if x.argmax() == 2:  # cause
            break
    return x


print(decoded(torch.tensor([0.1, 0.2, 0.3])).tolist())
