"""An environment variable is read, and stays as it is."""

import os

import torch

os.environ["SCALE"] = "3"


@torch.compile(backend="eager")
def step(x):
    return x * int(os.environ["SCALE"]) + int(os.getenv("OFFSET", "1"))


for _ in range(3):
    print(step(torch.ones(2)))
