import os

import torch


@torch.compile(backend="eager")
def scaled(x):
    return x * float(os.environ.get("SCALE", "1"))


x = torch.ones(3)
print(scaled(x))
os.environ["SCALE"] = "2"
print(scaled(x))
