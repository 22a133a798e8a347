"""An input of another dtype is taken.

After pytorch/pytorch#141865.
kind: exception
stage: decompositions
"""

import torch

layer = torch.nn.Linear(1, 1)


@torch.compile
def step(x):
    return layer(x)  # cause


try:
    print(step(torch.ones(1, 1, dtype=torch.float16)).dtype)
except RuntimeError as error:
    print(type(error).__name__)
