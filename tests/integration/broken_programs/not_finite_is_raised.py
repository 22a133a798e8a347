"""An exception in a compiled step where the loss, taken out of its tensor, is not finite.

kind: graph break
advice: out of the compiled code

Made after a pattern common in trainers.
"""

import math

import torch


@torch.compile(backend="eager")
def step(x):
    loss = x.square().mean()
    if not math.isfinite(loss.item()):  # cause
        raise ValueError("the loss is not finite")
    return loss * torch.exp(-loss)


for size in (2, 2):
    print(round(step(torch.arange(float(size))).item(), 4))
