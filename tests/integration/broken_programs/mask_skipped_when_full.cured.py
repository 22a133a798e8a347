"""A decoder makes no mask where nothing is padded.

kind: graph break
advice: leave out the check

Made after https://github.com/huggingface/transformers/pull/37944
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    hidden: int = 32
    heads: int = 4
    layers: int = 2
    vocab: int = 97
    longest: int = 24


class StaticCache:
    def __init__(self, config, batch):
        shape = (config.layers, batch, config.heads, config.longest, config.hidden // config.heads)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)

    def update(self, layer, positions, key, value):
        self.keys[layer].index_copy_(2, positions, key)
        self.values[layer].index_copy_(2, positions, value)
        return self.keys[layer], self.values[layer]


class Attention(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.index, self.heads = index, config.heads
        self.qkv = nn.Linear(config.hidden, 3 * config.hidden)
        self.out = nn.Linear(config.hidden, config.hidden)

    def forward(self, x, positions, mask, cache):
        batch, length, hidden = x.shape
        q, k, v = (
            each.view(batch, length, self.heads, -1).transpose(1, 2) for each in self.qkv(x).chunk(3, dim=-1)
        )
        k, v = cache.update(self.index, positions, k, v)
        reachable = torch.arange(k.shape[2])[None, :] <= positions[:, None]
        if mask is not None:
            reachable = reachable & mask[:, None, None, :]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=reachable)
        return self.out(y.transpose(1, 2).reshape(batch, length, hidden))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.hidden)
        self.layers = nn.ModuleList(Attention(config, n) for n in range(config.layers))
        self.head = nn.Linear(config.hidden, config.vocab)

    def _update_mask(self, attention_mask):
        if attention_mask is not None:
            return attention_mask.bool()
        return None

    def forward(self, tokens, positions, attention_mask, cache):
        x = self.embed(tokens) * math.sqrt(self.config.hidden)
        mask = self._update_mask(attention_mask)
        for layer in self.layers:
            x = x + layer(x, positions, mask, cache)
        return self.head(x[:, -1])


@torch.no_grad()
def generate(model, prompt, attention_mask, new_tokens):
    config, step = model.config, torch.compile(model, backend="eager")
    cache = StaticCache(config, prompt.shape[0])
    full = F.pad(attention_mask, (0, config.longest - attention_mask.shape[1]), value=1)
    positions = torch.arange(prompt.shape[1])
    tokens, out = prompt, []
    for _ in range(new_tokens):
        logits = step(tokens, positions, full, cache)
        tokens = logits.argmax(-1, keepdim=True)
        positions = positions[-1:] + 1
        out.append(tokens)
    return torch.cat(out, 1)


torch.manual_seed(0)
model = Decoder(Config()).eval()
prompt = torch.randint(0, 97, (2, 6))
padded = torch.ones(2, 6, dtype=torch.long)
padded[0, :2] = 0
print(generate(model, prompt, torch.ones_like(padded), 4).tolist())
print(generate(model, prompt, padded, 4).tolist())
