"""A quotient that is rounded down is rounded after the division: 0.5 is in another bin.

An idea of our own.
kind: value
stage: inductor
"""

import torch


class Histogram(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.register_buffer("offset", torch.tensor(0.0))

    def places(self, x):
        x = x.clamp(min=0.0)
        bins = torch.div(x, self.width, rounding_mode="floor")  # cause
        return bins.clamp(max=99.0)

    def forward(self, x):
        x = x.flatten() + self.offset
        places = self.places(x)
        counts = places * 2.0
        return counts.sort().values


histogram = torch.compile(Histogram(0.1))
print(histogram(torch.arange(16.0).reshape(2, 8) / 2))
