"""The gradient of an attention map is kept by a hook, to show what a model looks at.

kind: graph break
advice: a tensor whose gradient a hook gets

Made after https://github.com/salesforce/BLIP (save_attn_gradients)
"""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.attn_gradients = None

    def save_attn_gradients(self, gradients):
        self.attn_gradients = gradients

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        attn = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        attn.register_hook(self.save_attn_gradients)  # cause
        return self.proj((attn @ v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attn = nn.LayerNorm(16), Attention()
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        x = x + self.attn(self.norm(x))
        return x + self.mlp(x)


torch.manual_seed(0)
model = nn.Sequential(Block(), Block())
compiled = torch.compile(model, backend="eager")
for i in range(3):
    loss = compiled(torch.randn(2, 5, 16)).pow(2).mean()
    loss.backward()
    print(i, f"{loss.item():.4f}", f"{model[1].attn.attn_gradients.abs().sum():.6f}")
    model.zero_grad()
