"""A warning that a cached function gives once.

kind: graph break
advice: log after the call

Made after a pattern common in Hugging Face transformers (logger.warning_once).
"""

import functools
import logging

import torch

logger = logging.getLogger("models")
logger.addHandler(logging.NullHandler())
logger.propagate = False


@functools.lru_cache(None)
def warning_once(text):
    logger.warning(text)  # cause


class Model(torch.nn.Module):
    def forward(self, x, use_cache):
        y = x.sin()
        if use_cache:
            warning_once("use_cache is not used in training")
        return y.cos()


model = torch.compile(Model(), backend="eager")
for _ in range(3):
    print(model(torch.ones(2), True).tolist())
