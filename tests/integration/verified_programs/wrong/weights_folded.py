"""Inductor has folded a weight into what it compiled; the program has trained it since.

After pytorch/pytorch#103582.
kind: value
stage: guards
"""

import torch
import torch._inductor.config

torch._inductor.config.freezing = True


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)
        self.scale = torch.nn.Parameter(torch.ones(4))
        self.last = torch.nn.Linear(4, 2)

    def forward(self, x):
        x = self.body(x).relu()
        x = x * (self.scale * 2.0)  # cause
        return self.last(x)


torch.manual_seed(0)
head = Head().eval()
compiled = torch.compile(head)
x = torch.ones(1, 4)
with torch.no_grad():
    print(compiled(x))
    head.scale.mul_(3.0)
    print(compiled(x))
