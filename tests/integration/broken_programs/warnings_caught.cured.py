import warnings

import torch


@torch.compile(backend="eager")
def quiet(x):
    y = x.sin()
    y = y * 2
    return y.cos()


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    result = quiet(torch.ones(2))
print(result.tolist())
