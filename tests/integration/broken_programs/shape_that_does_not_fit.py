"""An operation that its input has too few numbers for: plain Python refuses it as well.

kind: compiler error
advice: TORCHDYNAMO_DISABLE=1
"""

import torch


@torch.compile(backend="eager")
def rows(x):
    y = x.sin()
    return y.reshape(3, 5)  # cause


try:
    print(rows(torch.ones(4)).tolist())
except RuntimeError:
    print("no rows")
print(rows(torch.zeros(15)).tolist())
