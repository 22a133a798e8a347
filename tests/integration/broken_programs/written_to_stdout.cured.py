import sys

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.cos()


result = model(torch.ones(2))
sys.stdout.write("halfway\n")
print(result.tolist())
