"""CUDA graphs: one that may write into its input, and one whose weight is another tensor in each call."""

import os

import torch

device = os.environ["DEVICE"]


@torch.compile(mode="reduce-overhead")
def writes(x):
    x.add_(2)  # another graph than in cuda_graphs.py: torch 2.11 would take that one from its caches
    return x.sin()


@torch.compile(mode="reduce-overhead")
def weighted(x, weight):
    return (x * weight).sum()


held = torch.zeros(1024, device=device)
torch._dynamo.mark_static_address(held)
weights = [torch.full((1024,), float(each), device=device) for each in range(12)]
for weight in weights:
    torch._dynamo.mark_static_address(weight, guard=False)
total = 0.0
for step in range(13):
    torch.compiler.cudagraph_mark_step_begin()
    writes(held)
    total += weighted(held, weights[step % 12]).item()
print(f"{held.sum().item():.1f} {total:.1f}")
