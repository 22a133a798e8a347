"""forward prints, logs and warns, each in every call; warnings are shown as often as in eager."""

import logging
import sys
import warnings

import torch
from torch import nn

torch.manual_seed(0)
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
logger = logging.getLogger("net")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        print("forward", tuple(x.shape))
        h = self.linear(x)
        logger.info("hidden %s", list(h.shape))
        if h.sum() > 0:
            warnings.warn("positive", UserWarning, stacklevel=2)
        print("sum", h.sum().item(), flush=True)
        return h


model = Net()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for step in range(3):
        model(torch.full((1, 2), step - 1.0))
print([(w.category.__name__, str(w.message)) for w in caught])
warnings.simplefilter("error")
try:
    for step in range(3):
        model(torch.full((1, 2), 2.0 * step - 2.0))
except UserWarning as error:
    print(type(error).__name__, error)
