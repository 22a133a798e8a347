"""A module that is imported inside does work in C.

kind: graph break
advice: before
"""

import torch


@torch.compile(backend="eager")
def model(x):
    import hashlib

    y = x.sin()
    digest = hashlib.sha256(b"a").hexdigest()  # cause
    return y * len(digest)


print(model(torch.ones(2)).tolist())
