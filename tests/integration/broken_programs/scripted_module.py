"""A part of the model that torch.jit.script has compiled already.

kind: fell back to eager
advice: torch.jit.script
"""

import torch


class Activation(torch.nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


activation = torch.jit.script(Activation())


@torch.compile(backend="eager")
def layer(x):
    y = x.sin()
    return activation(y) * 2  # cause


for _ in range(3):
    print(layer(torch.ones(2)).tolist())
