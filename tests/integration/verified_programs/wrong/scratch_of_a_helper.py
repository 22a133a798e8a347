"""An operator uses a buffer for its own purposes, which it does not declare, and the model reads the buffer.

After pytorch/pytorch#131197.
kind: value
stage: inductor
"""

import torch


@torch.library.custom_op("corpus::running_top", mutates_args=())
def running_top(x: torch.Tensor, scratch: torch.Tensor) -> torch.Tensor:
    scratch.copy_(torch.maximum(scratch, x))
    return scratch * 1.0


@running_top.register_fake
def running_top_fake(x, scratch):
    return torch.empty_like(x)


class Scratch:
    def topped(self, x, scratch):
        x = x * 0.5
        return running_top(x, scratch)  # cause


class Layered(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.helper = Scratch()
        self.shift = 0.25

    def forward(self, x):
        scratch = x.abs() - 1.0
        for _ in range(2):
            spread = scratch.amax() - scratch.amin()
            x = self.helper.topped(x, scratch) + spread
        return x + self.shift


layered = torch.compile(Layered())
print(layered(torch.linspace(-3.0, 3.0, 8)))
