"""A low-memory runner describes each weight by a block of C numbers.

kind: fell back to eager
advice: pass in what it gives

Made after https://github.com/kijai/ComfyUI-KJNodes/issues/599
"""

import ctypes

import torch
from torch import nn


class Staging:
    """Remembers where a weight would be copied to, as a low-memory runner does."""

    def describe(self, tensor):
        return ctypes.sizeof(ctypes.c_ulong * tensor.dim())


class CastLinear(nn.Linear):
    staging = Staging()

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.total = self.staging.describe(self.weight)

    def cast_weights(self, x):
        return self.weight.to(x.dtype), self.bias.to(x.dtype), self.total

    def forward(self, x):
        weight, bias, total = self.cast_weights(x)
        return nn.functional.linear(x, weight, bias) / total


class Modulated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.modulation = nn.Sequential(nn.SiLU(), CastLinear(width, 2 * width))
        self.proj = CastLinear(width, width)

    def forward(self, x, vec):
        shift, scale = self.modulation(vec).chunk(2, dim=-1)
        return x + self.proj(x * (1 + scale[:, None]) + shift[:, None])


class Transformer(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Modulated(width) for _ in range(depth))

    def forward(self, x, vec):
        for block in self.blocks:
            x = block(x, vec)
        return x


torch.manual_seed(0)
model = torch.compile(Transformer(), backend="eager")
with torch.no_grad():
    latent = torch.randn(2, 8, 16)
    for step in range(4):
        latent = model(latent, torch.full((2, 16), step / 4))
print(f"{latent.mean().item():.5f} {latent.std().item():.5f}")
