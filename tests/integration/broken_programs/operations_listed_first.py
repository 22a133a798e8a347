"""The operations of the first step are listed, before training begins.

kind: never called
advice: call what is not compiled

Made after https://github.com/pytorch/pytorch/issues/123800
"""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Operations(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
fast = torch.compile(model, backend="eager")
x = torch.ones(3, 4)
with torch.no_grad(), Operations() as operations:
    fast(x)  # cause
print(operations.names)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = fast(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
