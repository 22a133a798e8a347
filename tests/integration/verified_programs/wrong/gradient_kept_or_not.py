"""Whether a tensor keeps its gradient is always answered with no.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Probe:
    """Scales what is watched."""

    def __init__(self, activation):
        self.activation = activation

    def factor(self):
        if self.activation.retains_grad:  # cause
            return 10.0
        return 1.0


class Head(torch.nn.Module):
    def __init__(self, probe):
        super().__init__()
        self.probe = probe
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        y = self.linear(x)
        factor = self.probe.factor()
        z = torch.tanh(y) * factor
        return z.sum(dim=0)


torch.manual_seed(0)
leaf = torch.ones(3, requires_grad=True)
activation = leaf * 2
probe = Probe(activation)
head = torch.compile(Head(probe), backend="eager")
x = torch.ones(2, 3)
print(head(x).tolist())
activation.retain_grad()
print(head(x).tolist())
