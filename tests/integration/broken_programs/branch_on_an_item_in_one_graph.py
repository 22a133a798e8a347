"""A number that a tensor holds decides how a whole graph goes on.

kind: compiler error
advice: torch.where
"""

import torch


@torch.compile(backend="eager", fullgraph=True)
def scaled(x):
    total = x.abs().sum().item()
    if total > 3:  # cause
        return x / 2
    return x * 2


for start in (1.0, 0.1):
    x = torch.full((4,), start)
    try:
        print(scaled(x).tolist())
    except Exception:
        print((x / 2 if x.abs().sum() > 3 else x * 2).tolist())
