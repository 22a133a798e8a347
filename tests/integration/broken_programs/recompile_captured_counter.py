"""A counter on a module, in a program that never calls torch.compile.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES
options: --backend eager
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # cause
        return self.linear(x) * self.calls


torch.manual_seed(0)
net = Net()
for _ in range(12):
    print(round(net(torch.ones(2, 4)).sum().item(), 3))
