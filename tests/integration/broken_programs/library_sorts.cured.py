import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent / "site-packages"))
import careful


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sin().unbind()


@torch.compile(backend="eager")
def rest(tensors):
    return torch.stack(tensors).cos()


print(rest(careful.smallest_first(torch.compile(Model(), backend="eager")(torch.arange(3.0)))).tolist())
