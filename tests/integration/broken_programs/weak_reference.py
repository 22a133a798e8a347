"""A weak reference to a tensor made inside.

kind: graph break
advice: weakref
"""

import weakref

import torch


@torch.compile(backend="eager")
def watched(x):
    y = x.sin()
    seen = weakref.ref(y)  # cause
    return y.cos() if seen() is not None else y


print(watched(torch.ones(2)).tolist())
