"""Another error than eager's is raised.

An idea of our own.
kind: exception
stage: inductor
"""

import torch


@torch.compile
def step(x, index):
    return x[index] * 2  # cause


try:
    print(step(torch.ones(4), torch.tensor([9])))
except Exception as error:
    print(type(error).__name__)
