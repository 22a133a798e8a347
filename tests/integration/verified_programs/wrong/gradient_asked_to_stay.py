"""Whether a tensor keeps its gradient is what it was without: tracing looks at a tensor of its own.

An idea of our own: `retains_grad` of the example is false.
kind: value
stage: tracing
"""

import torch


def is_watched(features):
    return features.requires_grad and features.retains_grad  # cause


class Probe(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(width))
        self.names = ["first", "second"]

    def head(self, features, name):
        y = features * self.scale
        if name == "second":
            y = y.sin()
        if is_watched(features):
            y = y + 100.0
        return y.cos()

    def forward(self, features):
        total = features.sum() * 0.0
        for name in self.names:
            part = self.head(features, name)
            total = total + part.sum()
        return total


probe = torch.compile(Probe(3), backend="eager")
encoder = torch.nn.Linear(2, 3)
torch.nn.init.constant_(encoder.weight, 0.5)
torch.nn.init.constant_(encoder.bias, 0.1)
for is_kept in (False, True):
    features = encoder(torch.ones(2, 2))
    if is_kept:
        features.retain_grad()
    print(round(probe(features).item(), 4))
