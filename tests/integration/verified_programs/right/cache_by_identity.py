"""What belongs to a tensor is kept in a dictionary by the tensor's id."""

import torch


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.known = {}

    def norm_of(self, x):
        if id(x) not in self.known:
            self.known[id(x)] = len(self.known) + 1.0
        return self.known[id(x)]

    def forward(self, x):
        return self.inner(x) * self.norm_of(x)


torch.manual_seed(0)
cached = torch.compile(Cached(), backend="eager")
first, second = torch.ones(1, 3), torch.zeros(1, 3)
with torch.no_grad():
    for each in (first, second, first):
        print([round(value, 4) for value in cached(each).flatten().tolist()])
