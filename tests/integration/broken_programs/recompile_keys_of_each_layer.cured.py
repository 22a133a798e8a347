import torch


class Cache:
    def __init__(self, layers):
        self.keys = [torch.zeros(8, 5) for _ in range(layers)]
        self.position = torch.zeros(1, dtype=torch.int64)

    def update(self, layer, key):
        self.keys[layer] = self.keys[layer].index_copy(0, self.position, key)
        return self.keys[layer], torch.arange(8) <= self.position


@torch.compile(backend="eager")
def decode(x, weights, cache):
    for number, weight in enumerate(weights):
        keys, used = cache.update(number, x @ weight)
        x = torch.softmax((x @ keys.t()).masked_fill(~used, float("-inf")), -1) @ keys
    cache.position = cache.position + 1
    return x


torch.manual_seed(0)
weights, cache = torch.randn(2, 5, 5) * 0.3, Cache(2)
for _ in range(4):
    print(round(decode(torch.randn(1, 5), weights, cache).sum().item(), 4))
