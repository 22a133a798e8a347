"""The size of the smallest int16 is computed in more bits, so that it is no negative number.

An idea of our own.
kind: value
stage: inductor
"""

import torch


class Meter(torch.nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window
        self.register_buffer("floor", torch.tensor(-100, dtype=torch.int16))

    def framed(self, samples):
        return samples.view(-1, self.window)

    def loudness(self, frames):
        size = frames.abs()  # cause
        is_broken = size < self.floor
        return torch.where(is_broken, torch.full_like(size, 32767), size)

    def forward(self, samples):
        frames = self.framed(samples)
        frames = frames - 0
        size = self.loudness(frames)
        return size, (size > 30000).sum(1)


model = torch.compile(Meter(2), backend="inductor")
samples = torch.tensor([3, -32768, 100, -200, 32767, 5], dtype=torch.int16)
print([each.tolist() for each in model(samples)])
