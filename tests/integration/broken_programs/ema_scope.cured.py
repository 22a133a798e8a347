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
        try:
            yield
        finally:
            for parameter, old in zip(self.net.parameters(), stored):
                parameter.data.copy_(old)

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
        out = sample(torch.randn(4, 16))
        print("sampling: switched to EMA weights")
        print("sampling: restored training weights")
        print(round(out.sum().item(), 3))


main()
