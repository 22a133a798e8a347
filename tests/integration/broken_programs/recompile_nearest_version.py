"""Calls with other arguments between those of which a size varies.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


def scaled(x, m=None):
    return x * 2 if m is None else x * m  # cause


@torch.compile(backend="eager")
def called(**arguments):
    return scaled(**arguments)


for n in (5, 7, 8):
    print(called(x=torch.ones(n)).tolist())
