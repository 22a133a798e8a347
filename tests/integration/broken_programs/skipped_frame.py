"""Dynamo is asked to leave the frame alone.

kind: fell back to eager
advice: skip_frame
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    torch._dynamo.skip_frame()  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
