"""A break in a loop, for which the whole frame runs eager.

kind: fell back to eager
advice: reorderable_logging_functions
"""

import torch


@torch.compile(backend="eager")
def model(x):
    for step in range(3):
        x = x.sin()
        print("step", step)  # cause
    return x


print(model(torch.ones(2)).tolist())
