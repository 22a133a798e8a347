"""The program has guards on global variables left out, and changes one.

After pytorch/pytorch#158281.
kind: value
stage: guards
"""

import torch

SCALES = {"short": 1.0, "long": 0.5}
SLOPE = 0.1


def shrunk(x):
    magnitude = x.abs()
    return torch.where(magnitude > SLOPE, x, x * magnitude)  # cause


class Block(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.inner(x)
        x = shrunk(x)
        return x * SCALES[self.kind]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block("short"), Block("long")])

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x.sum(dim=-1)


torch.manual_seed(0)
options = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
model = torch.compile(Model(), options=options)
x = torch.randn(3, 4)
print(model(x).detach())
SLOPE = 0.7
print(model(x).detach())
