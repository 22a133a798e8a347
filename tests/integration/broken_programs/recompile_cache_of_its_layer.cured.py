"""Blocks that keep their numbers, by which each finds its own part of a cache."""

import torch


class Cache:
    def __init__(self, layers, length, width):
        self.keys = [torch.zeros(length, width) for _ in range(layers)]


class Block(torch.nn.Module):
    def __init__(self, number, width):
        super().__init__()
        self.number = number
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x, keys, pos):
        key = self.linear(x)
        keys.index_copy_(0, pos, key)
        return x + torch.softmax(key @ keys.t(), -1) @ keys


torch.manual_seed(0)
blocks = torch.nn.ModuleList(Block(number, 4) for number in range(10))
for block in blocks:
    block.compile(backend="eager")
cache = Cache(10, 6, 4)
x = torch.ones(1, 4)
with torch.no_grad():
    for token in range(3):
        for block in blocks:
            x = block(x, cache.keys[block.number], torch.tensor([token])).tanh()
        print(round(x.sum().item(), 4))
