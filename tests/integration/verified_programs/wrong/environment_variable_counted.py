"""An environment variable that the function itself sets keeps the value of the first call.

After pytorch/pytorch#189027.
kind: value
stage: guards
"""

import os

import torch


@torch.compile(backend="eager")
def step(x):
    calls = int(os.environ.get("CALLS", "0")) + 1  # cause
    os.environ["CALLS"] = str(calls)
    return x * calls


for _ in range(3):
    print(step(torch.ones(2)))
