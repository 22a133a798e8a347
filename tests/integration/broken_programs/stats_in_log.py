"""A helper logs the smallest and the largest value.

kind: graph break
advice: after the call of `Net.forward`

Made after a pattern common in threads on logging statistics of activations.
"""

import logging

import torch
from torch import nn

log = logging.getLogger(__name__)


def report(name, tensor):
    log.info("%s: min %.3f max %.3f", name, tensor.min().item(), tensor.max().item())  # cause


def normalised(x):
    x = (x - x.mean()) / (x.std() + 1e-5)
    report("normalised", x)
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.b(normalised(torch.relu(self.a(x))))


torch.manual_seed(0)
net = torch.compile(Net().eval(), backend="eager")
with torch.no_grad():
    for _ in range(4):
        print(f"{net(torch.randn(5, 4)).sum().item():.4f}")
