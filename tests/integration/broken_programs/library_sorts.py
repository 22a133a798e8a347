"""A library sorts tensors by what they hold.

kind: graph break
advice: careful.smallest_first
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent / "site-packages"))
import careful


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.stack(self.in_order(x.sin())).cos()

    def in_order(self, x):
        return careful.smallest_first(x.unbind())  # cause


print(torch.compile(Model(), backend="eager")(torch.arange(3.0)).tolist())
