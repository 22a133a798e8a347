"""Who called is looked up on the stack.

kind: graph break
advice: inspect
"""

import inspect

import torch


@torch.compile(backend="eager")
def traced(x):
    y = x.sin()
    frame = inspect.currentframe()  # cause
    return y * (2 if frame is not None else 1)


print(traced(torch.ones(2)).tolist())
