import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent / "site-packages"))
import careful


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sin()


@torch.compile(backend="eager")
def rest(x):
    return x.cos()


print(rest(careful.positive(torch.compile(Model(), backend="eager")(torch.ones(2)))).tolist())
