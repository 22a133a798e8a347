"""A name among the arguments that chooses what is computed.

kind: recompile
advice: outside
"""

import torch


@torch.compile(backend="eager")
def activated(x, kind):
    return x.sin() if kind == "sin" else x.relu() if kind == "relu" else x.tanh()  # cause


for kind in ("sin", "relu", "tanh"):
    print(activated(torch.ones(2), kind).sum().item())
