"""A message that is printed for what a tensor holds.

kind: graph break
advice: out of the compiled code
"""

import torch


@torch.compile(backend="eager")
def watched(x):
    y = x.exp()
    if y.max() > 100:  # cause
        print("large values:", y.numel())
    return y + 1


print(watched(torch.tensor([1.0, 9.0])).tolist())
