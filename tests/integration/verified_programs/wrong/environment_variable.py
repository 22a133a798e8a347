"""What `os.getenv` gave is kept.

After pytorch/pytorch#189027.
kind: value
stage: guards
"""

import os

import torch


@torch.compile(backend="eager")
def step(x):
    return x * 2 if os.getenv("DOUBLED") == "1" else x  # cause


os.environ["DOUBLED"] = "1"
print(step(torch.ones(2)))
os.environ["DOUBLED"] = "0"
print(step(torch.ones(2)))
