"""A list that the compiled function read is written later: no guard sees it through the closure's method."""

import os

import torch

device = os.environ["DEVICE"]
scales = {"last": [2.0]}


@torch.compiler.assume_constant_result
def scale():
    return scales["last"][0]


@torch.compile
def scaled(x):
    return x * scale()


x = torch.ones(8, device=device)
for step in range(3):
    scales["last"][0] = 2.0 + step
    print(f"{scaled(x).sum().item():.1f}")
