"""Text is written to standard output.

kind: graph break
advice: after the call
"""

import sys

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    sys.stdout.write("halfway\n")  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
