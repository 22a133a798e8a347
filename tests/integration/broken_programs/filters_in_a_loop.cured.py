"""Filters of several classes in a list, each of which asks a tensor in the method that they share.

kind: fell back to eager
advice: torch.where

Made after https://github.com/kornia/kornia/pull/3793
"""

import torch


class Filter(torch.nn.Module):
    def forward(self, wave):
        loud = wave.abs().max() > 3.0
        wave = torch.where(loud, wave / 2, wave)
        return self.smooth(wave)


class Mean(Filter):
    def smooth(self, wave):
        return torch.nn.functional.avg_pool1d(wave, 3, 1, 1)


class Clip(Filter):
    def smooth(self, wave):
        return wave.clamp(-1, 1)


class Chain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = torch.nn.ModuleList([Mean(), Clip()])

    def forward(self, wave):
        for step in self.filters:
            wave = step(wave)
        return wave.mean(-1)


torch.manual_seed(0)
chain = torch.compile(Chain(), backend="eager")
for _ in range(5):
    print([round(each, 4) for each in chain(torch.randn(2, 1, 32) * 2).flatten().tolist()])
