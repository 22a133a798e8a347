"""The same, cured."""

import torch
from torch import nn

END = 3


class Cache:
    def __init__(self):
        self.keys, self.values = None, None

    def update(self, k, v):
        if self.keys is None:
            self.keys, self.values = k, v
        else:
            self.keys = torch.cat([self.keys, k], dim=1)
            self.values = torch.cat([self.values, v], dim=1)
        return self.keys, self.values


class Decoder(nn.Module):
    def __init__(self, words=12, width=8):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.head = nn.Linear(width, words)

    def step(self, tokens, cache):
        x = self.embedding(tokens[:, -1:])
        keys, values = cache.update(self.k(x), self.v(x))
        attended = (self.q(x) @ keys.transpose(1, 2)).softmax(-1) @ values
        logits = self.head(x + attended)[:, -1]
        logits = torch.where((tokens == END).any(), logits - logits.mean(-1, keepdim=True), logits)
        return logits.softmax(-1)


@torch.no_grad()
def generate(decoder, tokens, steps):
    cache, step = Cache(), torch.compile(decoder.step, backend="eager")
    for _ in range(steps):
        following = step(tokens, cache).argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    return tokens


torch.manual_seed(0)
print(generate(Decoder(), torch.tensor([[1], [5]]), 6).tolist())
