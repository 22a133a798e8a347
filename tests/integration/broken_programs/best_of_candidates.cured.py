"""The candidate that is nearest is kept, by a key that is a number: cured."""

import torch
from torch import nn


def best(candidates, wanted):
    together = torch.stack(candidates)
    keys = (together - wanted).pow(2).sum(-1)
    return together.index_select(0, keys.argmin().reshape(1))[0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(4, 3) for _ in range(4))

    def forward(self, x, wanted):
        return best([head(x) for head in self.heads], wanted) * 2


torch.manual_seed(0)
net = torch.compile(Net().eval(), backend="eager")
with torch.no_grad():
    for _ in range(4):
        print([round(v, 4) for v in net(torch.randn(4), torch.randn(3)).tolist()])
