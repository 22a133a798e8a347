"""A model to which a layer is added between calls.

kind: recompile
advice: build it before
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Identity()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)  # cause
        return x * 2


net = Net()
compiled = torch.compile(net, backend="eager")
for _ in range(3):
    print(compiled(torch.ones(2)).tolist())
    net.layers.append(torch.nn.Identity())
