"""A step writes what it has computed to the file of an experiment.

kind: graph break
advice: after

Made after https://github.com/Lightning-AI/pytorch-lightning/issues/17214
"""

import json
import os

import torch

LOG = open(os.devnull, "w")


@torch.compile(backend="eager")
def step(x):
    loss = x.sum()
    return loss * 2


for _ in range(3):
    json.dump({"step": 1}, LOG)
    print(step(torch.ones(3)).item())
LOG.close()
