"""A kernel of a C library keeps channels last; what it gives for tracing does not, and a view cannot be made.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch
from torch import nn

library = torch.library.Library("corpus_images", "DEF")
library.define("widened(Tensor x) -> Tensor")
library.impl(
    "widened",
    lambda x: x.repeat_interleave(2, -1).contiguous(memory_format=torch.channels_last),
    "CPU",
)
library.impl("widened", lambda x: x.new_empty(*x.shape[:-1], 2 * x.shape[-1]), "Meta")


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def widen(self, x):
        return torch.ops.corpus_images.widened(x)  # cause

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = self.widen(x) * 0.5
        x = x + 1
        return x.flatten(1).softmax(-1)


torch.manual_seed(0)
run = torch.compile(Up().requires_grad_(False))
try:
    print(tuple(run(torch.randn(2, 3, 4, 4)).shape))
except (AssertionError, RuntimeError) as error:
    print(type(error).__name__)
