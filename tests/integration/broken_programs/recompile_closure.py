"""A function made in a loop, around another number each time.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


def scaler(k):
    @torch.compile(backend="eager")
    def scaled(x):
        return x * k  # cause

    return scaled


for k in (2, 3, 4, 5):
    print(scaler(k)(torch.ones(4)).tolist())
