"""A size is marked as dynamic, and a comparison makes it a constant.

kind: compiler error
advice: maybe_mark_dynamic
"""

import torch


@torch.compile(backend="eager")
def model(x):
    return x + 1 if x.shape[0] == 4 else x - 1


for size in (4, 5):
    x = torch.ones(size, 2)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    try:
        y = model(x)
    except Exception:
        y = x + 1 if size == 4 else x - 1
    print(y.tolist())
