"""A cache has a list of keys for each layer, which grows with each token and is read at once.

kind: recompile
advice: index_copy

Made after a pattern common in decoders (a cache of Python lists).
"""

import torch


class Cache:
    def __init__(self, layers):
        self.keys = [[] for _ in range(layers)]

    def update(self, layer, key):
        self.keys[layer].append(key)  # cause
        return torch.cat(self.keys[layer])


@torch.compile(backend="eager")
def decode(x, weights, cache):
    for number, weight in enumerate(weights):
        keys = cache.update(number, x @ weight)
        x = torch.softmax(x @ keys.t(), -1) @ keys
    return x


torch.manual_seed(0)
weights, cache = torch.randn(2, 5, 5) * 0.3, Cache(2)
for _ in range(4):
    print(round(decode(torch.randn(1, 5), weights, cache).sum().item(), 4))
