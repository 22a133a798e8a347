"""Blocks that are compiled apart, whose parameters have other sizes.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/Comfy-Org/ComfyUI/issues/9289
"""

import torch


class Adapter(torch.nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.down = torch.nn.Parameter(torch.ones(8, rank))
        self.up = torch.nn.Parameter(torch.ones(rank, 8))

    def forward(self, x):
        return x + x @ self.down @ self.up  # cause


for rank in (4, 6, 10, 12):
    block = torch.compile(Adapter(rank), backend="eager")
    print(block(torch.ones(2, 8)).sum().item())
