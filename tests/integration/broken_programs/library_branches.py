"""A library branches on what a tensor holds.

kind: graph break
advice: careful.positive
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent / "site-packages"))
import careful


class Model(torch.nn.Module):
    def forward(self, x):
        return self.made_positive(x.sin()).cos()

    def made_positive(self, x):
        return careful.positive(x)  # cause


print(torch.compile(Model(), backend="eager")(torch.ones(2)).tolist())
