"""A call of `logging.info`.

kind: graph break
advice: log after
"""

import logging

import torch


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    logging.info("halfway")  # cause
    return y.cos()


print(shown(torch.ones(2)).tolist())
