"""A generator that is seeded in each call.

kind: graph break
advice: out of the compiled code
"""

import torch

generator = torch.Generator()


@torch.compile(backend="eager")
def noised(x):
    y = x.sin()
    generator.manual_seed(3)  # cause
    return y.cos()


for _ in range(3):
    print(noised(torch.ones(2)).tolist(), torch.rand(1, generator=generator).item())
