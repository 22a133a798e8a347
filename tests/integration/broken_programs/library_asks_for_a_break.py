"""A library asks for a break itself.

kind: graph break
advice: careful.scaled
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent / "site-packages"))
import careful


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    y = careful.scaled(y)  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
