"""forward counts its calls, keeps a cache by key and a history in a list, and a memo by functools."""

import functools

import torch
from torch import nn

torch.manual_seed(0)


@functools.lru_cache(maxsize=4)
def positions(length):
    return torch.arange(length).float()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.calls, self.history, self.cache = 0, [], {}
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def forward(self, x, key="a"):
        self.calls += 1
        self.steps += 1
        if key not in self.cache:
            self.cache[key] = self.linear(x).detach()
        self.history.append((key, x.shape[0]))
        return self.linear(x) * self.calls + self.cache[key] + positions(3)


model = Net()
for key in "abacab" * 2:
    out = model(torch.ones(2, 3) * len(model.cache), key)
    print(key, out.sum().item(), model.calls, model.steps.item())
print(model.history, {k: v.sum().item() for k, v in model.cache.items()}, positions.cache_info().hits)
