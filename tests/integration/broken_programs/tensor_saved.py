"""A tensor is saved in the middle.

kind: graph break
advice: out of the compiled code
"""

import io

import torch

file = io.BytesIO()


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    torch.save(y, file)  # cause
    return y.cos()


print(model(torch.ones(2)).tolist(), len(file.getvalue()) > 0)
