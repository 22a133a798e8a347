import functools
import logging

import torch

logger = logging.getLogger("models")
logger.addHandler(logging.NullHandler())
logger.propagate = False


@functools.lru_cache(None)
def warning_once(text):
    logger.warning(text)


class Model(torch.nn.Module):
    def forward(self, x, use_cache):
        y = x.sin()
        return y.cos()


model = torch.compile(Model(), backend="eager")
for _ in range(3):
    print(model(torch.ones(2), True).tolist())
    warning_once("use_cache is not used in training")
