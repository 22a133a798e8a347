"""A moving average of weights, whose decay grows with the steps: `alpha` has to be a number.

kind: recompile limit
advice: in place of `alpha=`

Made after https://github.com/pytorch/pytorch/issues/171320
"""

import torch


def average(kept, weights, decay):
    for mine, given in zip(kept, weights):
        mine.mul_(decay).add_(given, alpha=1.0 - decay)  # cause


update = torch.compile(average, backend="aot_eager")
torch.manual_seed(0)
weights = [torch.randn(4, 4) for _ in range(3)]
kept = [torch.zeros(4, 4) for _ in range(3)]
with torch.no_grad():
    for step in range(1, 14):
        update(kept, weights, (1 + step) / (10 + step))
print([round(each.sum().item(), 4) for each in kept])
