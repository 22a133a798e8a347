import logging

import torch


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    return y.cos()


result = shown(torch.ones(2))
logging.info("halfway")
print(result.tolist())
