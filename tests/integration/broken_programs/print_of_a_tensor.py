"""A print of a tensor.

kind: graph break
advice: reorderable_logging_functions
"""

import torch


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    print("y is", y)  # cause
    return y.cos()


print(shown(torch.ones(2)).tolist())
