"""A TorchDispatchMode counts operators and sums FLOPs, inside and outside of it the model is called."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.counts = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        self.counts[name] = self.counts.get(name, 0) + 1
        return func(*args, **(kwargs or {}))


model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2))
x = torch.randn(2, 3)
print(model(x).sum().item())
with Count() as count:
    model(x).sum().backward()
print(sorted(count.counts.items()))
with FlopCounterMode(display=False) as flops:
    model(x).sum().backward()
print(flops.get_total_flops())
print(model(x).sum().item())
