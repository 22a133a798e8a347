"""Scratch memory that nothing has filled is masked out, and kept by the module."""

import torch


class Padded(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scratch = None

    def forward(self, x, length):
        scratch = torch.empty(2 * x.shape[0], x.shape[1])
        scratch[: x.shape[0]] = x
        rows = torch.arange(scratch.shape[0]).unsqueeze(1)
        self.scratch = scratch
        return torch.where(rows < length, scratch, 0.0).sum(dim=0)


padded = torch.compile(Padded(), backend="aot_eager")
for length in (2, 3):
    print(padded(torch.ones(3, 2), length).tolist())
