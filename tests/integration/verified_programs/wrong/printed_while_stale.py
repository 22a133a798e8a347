"""A message depends on an environment variable that is not guarded: it is not printed.

An idea of our own.
kind: output
stage: guards
"""

import os

import torch


@torch.compile(backend="eager")
def step(x):
    y = x * 2
    if os.environ.get("LOUD") == "yes":
        print("loud")  # cause
    return y + 1


print(step(torch.ones(2)))
os.environ["LOUD"] = "yes"
print(step(torch.ones(2)))
