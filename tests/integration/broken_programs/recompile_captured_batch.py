"""A program that never calls torch.compile, with batches of different sizes.

kind: recompile
advice: --dynamic
options: --backend eager
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).relu()  # cause


torch.manual_seed(0)
net = Net()
for n in (3, 4, 5, 6):
    print(round(net(torch.ones(n, 4)).sum().item(), 4))
