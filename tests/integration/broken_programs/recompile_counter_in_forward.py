"""A counter on the module, in each call another number.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # cause
        return self.linear(x) * (1 + self.calls)


torch.manual_seed(0)
net = torch.compile(Net(), backend="eager")
for _ in range(16):
    print(round(net(torch.ones(2, 4)).sum().item(), 4))
