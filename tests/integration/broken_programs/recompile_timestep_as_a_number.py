"""A sampler gives its timestep to the network as a number, of which the network makes a tensor.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after a pattern common in tutorials on denoising diffusion (DDPM sampling loops).
"""

import math

import torch
from torch import nn


def embedding(t, width):
    half = width // 2
    frequencies = torch.exp(-math.log(10000) * torch.arange(half) / half)
    angles = t[:, None].float() * frequencies[None]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.width = width
        self.time = nn.Linear(width, width)
        self.inner = nn.Linear(width, width)

    def forward(self, x, t):
        if not isinstance(t, torch.Tensor):  # cause
            t = torch.tensor([t] * x.shape[0])
        h = self.time(embedding(t, self.width))
        return self.inner(torch.tanh(x + h))


@torch.no_grad()
def sample(model, steps=12):
    x = torch.randn(4, 16)
    betas = torch.linspace(1e-4, 0.02, 1000)
    for t in reversed(range(0, 1000, 1000 // steps)):
        noise = model(x, t)
        x = (x - betas[t] * noise) / (1 - betas[t]).sqrt()
    return x


def main():
    torch.manual_seed(0)
    model = torch.compile(UNet().eval(), backend="eager")
    print(round(sample(model).mean().item(), 4))


main()
