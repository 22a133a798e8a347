"""A call of a logger.

kind: graph break
advice: after the call
"""

import logging

import torch

logger = logging.getLogger("model")


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    logger.info("halfway")  # cause
    return y.cos()


print(shown(torch.ones(2)).tolist())
