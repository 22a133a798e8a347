"""CUDA graphs: one that is skipped because it writes into its input, one that is recorded for each size."""

import os

import torch

device = os.environ["DEVICE"]


@torch.compile(mode="reduce-overhead")
def writes(x):
    x.add_(1)
    return x.sin()


@torch.compile(mode="reduce-overhead", dynamic=True)
def of_any_size(x):
    return (x * 2).cos().sum()


held = torch.zeros(1024, device=device)
for step in range(36):
    torch.compiler.cudagraph_mark_step_begin()
    writes(held)
    of_any_size(torch.ones(65 + step % 12, 64, device=device))
print(f"{held.sum().item():.1f}")
