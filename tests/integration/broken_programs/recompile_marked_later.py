"""A size that the program marks dynamic after the first call.

kind: recompile
advice: before the first call
"""

import torch


@torch.compile(backend="eager")
def scaled(x):  # cause
    return x * 2


x = torch.ones(4)
print(scaled(x).tolist())
torch._dynamo.mark_dynamic(x, 0)
print(scaled(x).tolist())
