import os

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.cos()


os.environ["SEEN"] = "1"
print(model(torch.ones(2)).tolist(), os.environ["SEEN"])
