"""An environment variable is set inside.

kind: graph break
advice: call of `model`
"""

import os

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    os.environ["SEEN"] = "1"  # cause
    return y.cos()


print(model(torch.ones(2)).tolist(), os.environ["SEEN"])
