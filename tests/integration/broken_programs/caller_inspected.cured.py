import inspect

import torch


@torch.compile(backend="eager")
def traced(x, frame):
    y = x.sin()
    return y * (2 if frame is not None else 1)


print(traced(torch.ones(2), inspect.currentframe()).tolist())
