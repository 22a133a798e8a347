"""Inductor has folded statistics into what it compiled; the program has gathered others since.

After pytorch/pytorch#103582.
kind: value
stage: guards
"""

import torch
import torch._inductor.config

torch._inductor.config.freezing = True


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("spread", torch.ones(3))
        self.last = torch.nn.Linear(3, 2)

    def normed(self, x):
        x = x - self.mean
        return x / (self.spread + 1e-3)  # cause

    def forward(self, x):
        x = torch.tanh(self.first(x))
        x = self.normed(x)
        return self.last(x)


torch.manual_seed(0)
model = Scaled().eval()
compiled = torch.compile(model)
x = torch.linspace(-1.0, 1.0, 6).reshape(2, 3)
with torch.no_grad():
    print(compiled(x))
    model.spread.fill_(4.0)
    print(compiled(x))
