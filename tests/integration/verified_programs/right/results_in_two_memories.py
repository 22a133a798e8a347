"""A backend of the program's own gives what it computes in two memories in turn: nobody has the earlier."""

import torch


def pooling(graph, inputs):
    """Copies results into tensors that it keeps, so that none has to be made."""
    kept, calls = {}, [0]

    def run(*values):
        calls[0] += 1
        results = {(calls[0] % 2, at): each for at, each in enumerate(graph(*values))}
        return [kept.setdefault(at, torch.empty_like(each)).copy_(each) for at, each in results.items()]

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
        return y / scale


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.compile(Encoder(), backend=pooling)

    def forward(self, first, second):
        first = self.encoder(first)
        second = self.encoder(second)
        return (first * second).sum(dim=1)


with torch.no_grad():
    pair = Pair()
    print(pair(torch.eye(3)[:2], torch.ones(2, 3)).tolist())
    print(pair(torch.ones(2, 3), -torch.eye(3)[:2]).tolist())
