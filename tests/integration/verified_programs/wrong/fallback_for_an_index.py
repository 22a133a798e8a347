"""An error that the program handles comes out of the compiled function.

After pytorch/pytorch#184364.
kind: exception
stage: tracing
"""

import torch


@torch.compile(backend="eager")
def step(x):
    try:
        return torch.softmax(x, dim=10)  # cause
    except IndexError:
        return x


try:
    print(step(torch.ones(4)))
except Exception as error:
    print("another", type(error).__name__)
