"""torch._dynamo.reset() in a loop.

kind: compiled anew
advice: reset()
"""

import torch


@torch.compile(backend="eager")
def doubled(x):  # cause
    return x * 2


for _ in range(4):
    torch._dynamo.reset()
    print(doubled(torch.ones(4)).tolist())
