"""Inference with and without no_grad.

kind: recompile
advice: no_grad
"""

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 4)


@torch.compile(backend="eager")
def predicted(x):
    return net(x).relu()


print(round(predicted(torch.ones(2, 4)).sum().item(), 4))
with torch.no_grad():
    print(round(predicted(torch.ones(2, 4)).sum().item(), 4))  # cause
