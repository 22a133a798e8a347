"""A regular expression on a name.

kind: graph break
advice: before
"""

import re

import torch

PATTERN = re.compile(r"layer(\d+)")


@torch.compile(backend="eager")
def model(x, name):
    y = x.sin()
    depth = int(PATTERN.match(name).group(1))  # cause
    return y * depth


print(model(torch.ones(2), "layer3").tolist())
