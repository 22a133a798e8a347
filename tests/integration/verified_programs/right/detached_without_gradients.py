"""Without gradients, Inductor returns one object for a tensor and for what it is detached."""

import torch

torch.manual_seed(0)
weight = torch.randn(3, 2)


@torch.compile
def outputs(x):
    h = x @ weight
    return h, h.detach(), h.sum()


with torch.no_grad():
    hidden, detached, total = outputs(torch.ones(4, 3))
print(hidden.data_ptr() == detached.data_ptr(), round(total.item(), 3))
