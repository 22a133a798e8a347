"""A global setting that the program changes.

kind: recompile
advice: outside
"""

import torch

MODE = "fast"


@torch.compile(backend="eager")
def scaled(x):
    return x * 2 if MODE == "fast" else x * 3  # cause


for mode in ("fast", "exact"):
    MODE = mode
    print(scaled(torch.ones(4)).tolist())
