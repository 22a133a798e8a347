"""A backend of the program's own gives what it computes in the same memory in every call.

Planted.
kind: mutation
stage: pooling
"""

import torch


def pooling(graph, inputs):
    """Copies results into tensors that it keeps, so that none has to be made."""
    kept = {}

    def run(*values):
        results = graph(*values)
        return [kept.setdefault(at, torch.empty_like(each)).copy_(each) for at, each in enumerate(results)]

    return run


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.1, 0.9, 9).reshape(3, 3))

    def projected(self, x):
        y = x @ self.weight
        return torch.tanh(y)

    def forward(self, x):
        y = self.projected(x)
        scale = y.abs().amax()
        return y / scale  # cause


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.compile(Encoder(), backend=pooling)

    def forward(self, first, second):
        first = self.encoder(first)
        second = self.encoder(second)
        return (first * second).sum(dim=1)


with torch.no_grad():
    print(Pair()(torch.ones(2, 3), -torch.eye(3)[:2]).tolist())
