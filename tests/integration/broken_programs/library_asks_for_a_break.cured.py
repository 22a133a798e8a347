import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent / "site-packages"))
import careful


@torch.compile(backend="eager")
def model(x):
    return x.sin()


@torch.compile(backend="eager")
def rest(y):
    return y.cos()


print(rest(careful.scaled(model(torch.ones(2)))).tolist())
