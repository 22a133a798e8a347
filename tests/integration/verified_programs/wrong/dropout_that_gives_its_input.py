"""What is written to the tensor that dropout gives back unchanged does not reach it.

After https://github.com/pytorch/pytorch/issues/195422
kind: mutation
stage: AOTAutograd
"""

import torch
import torch.nn.functional as F


@torch.compile
def step(x):
    y = F.dropout(x, 0.5, False)  # cause
    y += y
    return y * 3


x = torch.ones(2)
print(step(x), x)
