"""Noise that is drawn with a generator of the caller's.

kind: graph break
advice: before the call

Made after a pattern common in diffusers (randn_tensor).
"""

import torch


@torch.compile(backend="eager")
def noised(x, generator):
    y = x.sin()
    noise = torch.randn(4, generator=generator)  # cause
    return y + noise


generator = torch.Generator().manual_seed(0)
for _ in range(3):
    print(noised(torch.ones(4), generator).tolist())
