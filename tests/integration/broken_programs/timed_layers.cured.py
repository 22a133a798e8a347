"""A decorator takes the time of each layer: cured."""

import functools
import time

import torch
from torch import nn

TIMINGS = {}


def timed(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        start = time.perf_counter()
        result = method(self, *args, **kwargs)
        TIMINGS[type(self).__name__] = time.perf_counter() - start
        return result

    return wrapper


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return nn.functional.scaled_dot_product_attention(q, k, v)


class Mlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


class Block(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.attention, self.mlp = Attention(dim), Mlp(dim)

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.mlp(x)


@timed
def once(model, x):
    return model(x)


torch.manual_seed(0)
model = nn.Sequential(Block(), Block()).eval()
model = torch.compile(model, backend="eager")
with torch.no_grad():
    for _ in range(5):
        print(f"{once(model, torch.randn(2, 6, 16)).mean().item():.5f}")
print(all(seconds > 0 for seconds in TIMINGS.values()))
