"""A key-value cache of a fixed size, with the position as a number on it.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/meta-pytorch/torchtune/issues/2564
"""

import torch
import torch.nn.functional as F
from torch import nn


class KVCache(nn.Module):
    def __init__(self, batch, heads, length, width):
        super().__init__()
        self.register_buffer("k_cache", torch.zeros(batch, heads, length, width), persistent=False)
        self.register_buffer("v_cache", torch.zeros(batch, heads, length, width), persistent=False)
        self.pos = 0

    def update(self, k, v):
        end = self.pos + k.size(2)  # cause
        self.k_cache[:, :, self.pos : end] = k
        self.v_cache[:, :, self.pos : end] = v
        self.pos = end
        return self.k_cache[:, :, :end], self.v_cache[:, :, :end]


class Attention(nn.Module):
    def __init__(self, width=8, heads=2, length=32):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.cache = KVCache(1, heads, length, width // heads)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        k, v = self.cache.update(k, v)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, w))


torch.manual_seed(0)
attention = Attention().eval()
decode = torch.compile(attention, backend="eager")
with torch.inference_mode():
    token = torch.randn(1, 1, 8)
    for _ in range(12):
        token = decode(token)
    print(round(token.sum().item(), 5))
