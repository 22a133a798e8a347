"""A limit that does not fit into bytes is taken.

An idea of our own.

kind: exception
stage: inductor
"""

import torch
from torch import nn


class Brighter(nn.Module):
    def __init__(self, top: int) -> None:
        super().__init__()
        self.top = top

    def limited(self, pixels):
        return pixels.clamp(max=self.top)  # cause

    def forward(self, pixels):
        pixels = pixels + 1
        pixels = self.limited(pixels)
        return pixels // 2


compiled = torch.compile(Brighter(300))
try:
    print(compiled(torch.tensor([1, 7, 255], dtype=torch.uint8)).tolist())
except RuntimeError:
    print("the limit does not fit")
