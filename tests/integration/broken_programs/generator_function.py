"""A generator is compiled.

kind: fell back to eager
advice: generator
"""

import torch


@torch.compile(backend="eager")
def parts(x):  # cause
    for piece in x.split(2):
        yield piece.sin() * 2


print([part.tolist() for part in parts(torch.arange(4.0))])
