"""A sampler puts averaged weights in by a context manager that says so.

kind: fell back to eager
advice: print after the call of `sample`

Made after `ema_scope` of CompVis/latent-diffusion.
"""

from contextlib import contextmanager

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, width))
        self.averaged = [p.detach() * 0.5 for p in self.net.parameters()]

    @contextmanager
    def ema_scope(self, context=None):
        stored = [p.detach().clone() for p in self.net.parameters()]
        for parameter, average in zip(self.net.parameters(), self.averaged):
            parameter.data.copy_(average)
        if context is not None:
            print(f"{context}: switched to EMA weights")  # cause
        try:
            yield
        finally:
            for parameter, old in zip(self.net.parameters(), stored):
                parameter.data.copy_(old)
            if context is not None:
                print(f"{context}: restored training weights")

    @torch.no_grad()
    def sample(self, x, steps=3):
        with self.ema_scope("sampling"):
            for _ in range(steps):
                x = x - 0.1 * self.net(x)
        return x.clamp(-1, 1)


def main():
    torch.manual_seed(0)
    model = Denoiser()
    sample = torch.compile(model.sample, backend="eager")
    for _ in range(3):
        print(round(sample(torch.randn(4, 16)).sum().item(), 3))


main()
