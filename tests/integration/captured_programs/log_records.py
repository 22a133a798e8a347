"""Log records and warnings name the function and the line that they come from."""

import logging
import sys
import warnings

import torch
from torch import nn

torch.manual_seed(0)
logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(funcName)s:%(lineno)d %(message)s")
logger = logging.getLogger("net")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        h = self.linear(x)
        logger.debug("norm %.4f", h.norm())
        if h.sum() > 0:
            warnings.warn("positive", stacklevel=1)
        logger.info("done")
        return h


def evaluate(model, x):
    logger.info("begin")
    return model(x).sum()


model = Net()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for step in range(2):
        print(evaluate(model, torch.full((1, 2), -1.0 - step)).item())
print([(w.lineno, w.filename == __file__, str(w.message)) for w in caught])
