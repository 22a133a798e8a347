"""A loop over a number on the module, which the program changes.

kind: recompile
advice: loop outside
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 1

    def forward(self, x):
        for _ in range(self.depth):  # cause
            x = x * 2
        return x


net = Net()
compiled = torch.compile(net, backend="eager")
for depth in (1, 2, 3, 4):
    net.depth = depth
    print(compiled(torch.ones(2)).tolist())
