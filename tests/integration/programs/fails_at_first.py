"""Its first attempt compiles something else, and fails before the ranks meet."""

import os
import sys

import torch

is_first = os.environ.get("TORCHELASTIC_RESTART_COUNT") == "0"


@torch.compile(backend="eager")
def step(x):
    return x.cos().sin() if is_first else x.relu()


step(torch.ones(4))
sys.exit(3 if is_first else 0)
