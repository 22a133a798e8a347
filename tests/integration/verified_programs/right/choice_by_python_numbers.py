"""Which branch is taken, and by how much it is scaled, is drawn from Python's random numbers."""

import random

import torch

random.seed(0)


@torch.compile(backend="aot_eager")
def step(x):
    y = x * 2 if random.random() < 0.5 else x - 1
    return y * random.uniform(1, 2)


print([f"{step(torch.ones(2)).sum().item():.2f}" for _ in range(6)])
