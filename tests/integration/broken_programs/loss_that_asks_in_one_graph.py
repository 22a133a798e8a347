"""A loss of torch's that asks whether a variance is negative, in one graph.

kind: compiler error
advice: out of the compiled code
source: https://github.com/pytorch/pytorch/issues/194503
"""

import torch
import torch.nn.functional as F


@torch.compile(backend="eager", fullgraph=True)
def loss(mean, target, spread):
    variance = F.softplus(spread)
    each = F.gaussian_nll_loss(mean, target, variance, reduction="none")  # cause
    return each.mean(-1).sum()


mean, target, spread = torch.linspace(0, 1, 12).reshape(3, 2, 2)
for _ in range(3):
    try:
        print(round(loss(mean, target, spread).item(), 4))
    except Exception:
        each = F.gaussian_nll_loss(mean, target, F.softplus(spread), reduction="none")
        print(round(each.mean(-1).sum().item(), 4))
