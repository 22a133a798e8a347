"""Today's date, from a type in C.

kind: graph break
advice: before
"""

import datetime

import torch


@torch.compile(backend="eager")
def stamped(x):
    y = x.sin()
    year = datetime.datetime.now().year  # cause
    return y * min(year, 2)


print(stamped(torch.ones(2)).tolist())
