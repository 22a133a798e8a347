import logging

import torch

logger = logging.getLogger("model")


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    return y.cos()


result = shown(torch.ones(2))
logger.info("halfway")
print(result.tolist())
