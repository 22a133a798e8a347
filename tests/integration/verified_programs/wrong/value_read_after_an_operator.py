"""An operator writes what it is given, and does not say so: what is computed before it is computed after it.

After pytorch/pytorch#131197.
kind: value
stage: inductor
"""

import torch


@torch.library.custom_op("corpus::clip_rows", mutates_args=())
def clip_rows(rows: torch.Tensor) -> torch.Tensor:
    limits = rows.amax(dim=1)
    rows.clamp_(max=1.0)
    return limits


@clip_rows.register_fake
def clip_rows_fake(rows):
    return rows.new_empty(rows.shape[0])


class Clipped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 3.0

    def limited(self, rows):
        before = rows * 0.5
        limits = clip_rows(rows)  # cause
        return before, limits

    def forward(self, x):
        rows = torch.exp(x) * self.gain
        before, limits = self.limited(rows)
        return before.sum(dim=1) + limits, rows


clipped = torch.compile(Clipped())
print(clipped(torch.linspace(-2.0, 2.0, 8).reshape(2, 4)))
