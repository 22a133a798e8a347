"""A function that is traced as it is, without its Python, reads a setting that is another one now.

After PyTorch's page on `nonstrict_trace`: what it closes over is taken for constant.

kind: value
stage: guards
"""

import torch
from torch import nn

SETTINGS = {"slope": 0.25}


@torch._dynamo.nonstrict_trace
def bent(x):
    slope = SETTINGS["slope"]
    return torch.where(x > 0, x, x * slope)  # cause


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        x = self.first(x)
        x = bent(x)
        return self.last(x)


torch.manual_seed(0)
compiled = torch.compile(Net())
x = torch.randn(3, 4)
with torch.no_grad():
    print(round(compiled(x).sum().item(), 4))
    SETTINGS["slope"] = 2.0
    print(round(compiled(x).sum().item(), 4))
