"""A sampler gives its network a new partial function in each step.

kind: recompile
advice: dynamic=True

Made after a pattern common in guided diffusion (cond_fn by functools.partial).
"""

from functools import partial

import torch
from torch import nn


def towards(x, target, scale):
    return (target - x) * scale  # cause


class Unet(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))

    def forward(self, x, cond_fn=None):
        eps = self.body(x)
        if cond_fn is not None:
            eps = eps + cond_fn(x)
        return eps


def sample(model, x, target, steps):
    for i in range(steps):
        cond_fn = partial(towards, target=target, scale=0.1 * (i + 1))
        x = x - 0.1 * model(x, cond_fn=cond_fn)
    return x


torch.manual_seed(0)
unet = Unet()
unet.forward = torch.compile(unet.forward, backend="eager")
with torch.no_grad():
    out = sample(unet, torch.randn(4, 8), torch.ones(8), 6)
    print(f"{out.sum().item():.4f}")
