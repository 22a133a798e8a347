"""A float on the module that the program changes.

kind: recompile
advice: dynamic=True
"""

import torch


class Noise(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def forward(self, x):
        return x + x * self.scale  # cause


net = Noise()
compiled = torch.compile(net, backend="eager")
for step in range(5):
    net.scale = 1 / (step + 2)
    print(round(compiled(torch.ones(4)).sum().item(), 4))
