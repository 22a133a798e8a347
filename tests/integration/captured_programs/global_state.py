"""Functions that change global state: number of threads, print options, default dtype, flags of backends."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)


def reconfigure(x):
    torch.set_num_threads(1)
    torch.set_printoptions(precision=2, sci_mode=False)
    torch.set_flush_denormal(False)
    return layer(x)


def precise(x):
    torch.set_default_dtype(torch.float64)
    y = x + torch.ones(3).sum()
    torch.set_default_dtype(torch.float32)
    return y, torch.zeros(1).dtype


x = torch.ones(1, 3)
print(reconfigure(x).detach(), torch.get_num_threads())
y, dtype = precise(x)
print(y.dtype, dtype, torch.get_default_dtype())
torch.set_float32_matmul_precision("high")
print(layer(x).detach(), torch.get_float32_matmul_precision())
with torch.backends.mkldnn.flags(enabled=False):
    print(layer(x).detach(), torch.backends.mkldnn.enabled)
print(torch.is_grad_enabled(), torch.get_default_device())
