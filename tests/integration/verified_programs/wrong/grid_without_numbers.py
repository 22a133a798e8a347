"""A place that is no number is sampled as 0 instead of nan.

An idea of our own.
kind: value
stage: decompositions
"""

import torch


@torch.compile
def step(image, grid):
    return torch.nn.functional.grid_sample(image, grid, align_corners=False)  # cause


grid = torch.full((1, 1, 1, 2), float("nan"))
print(step(torch.ones(1, 1, 2, 2), grid))
