"""A cache of keys is written at a position that moves."""

import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(6, 2))
        self.position = 0

    def forward(self, x):
        self.keys[self.position] = x
        self.position += 1
        return self.keys[: self.position].sum()


cache = Cache()
model = torch.compile(cache, backend="aot_eager")
for number in range(5):
    print(model(torch.full((2,), float(number))))
