"""A helper names the dtype that a cache is kept in, as autocast has it: autocast has another one now.

An idea of our own.

kind: dtype
stage: guards
"""

import torch
from torch import nn


class Storage:
    """In which dtype what is kept is kept: as autocast has it."""

    def chosen(self):
        return torch.get_autocast_dtype("cpu")  # cause

    def kept(self, values):
        short = self.chosen()
        return values.to(short)


class Cache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.storage = Storage()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        total = torch.zeros(2, 4)
        for part in x:
            total = total + torch.relu(self.lin(part))
        return self.storage.kept(total)


torch.manual_seed(0)
cache = torch.compile(nn.Sequential(Cache(), nn.Identity()))
x = torch.randn(3, 2, 4)
with torch.no_grad():
    print(cache(x).dtype)
    torch.set_autocast_dtype("cpu", torch.float16)
    print(cache(x).dtype)
