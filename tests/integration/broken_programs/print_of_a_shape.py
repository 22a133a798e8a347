"""A print of a shape, which torch cannot put off.

kind: graph break
advice: out of the compiled code
"""

import torch


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    print("shape", y.shape)  # cause
    return y.cos()


print(shown(torch.ones(2)).tolist())
