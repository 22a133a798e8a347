"""What lies between windows that are written becomes zero.

After pytorch/pytorch#198102.
kind: mutation
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def doubled(x):
    windows = x.unfold(1, 1, 5)
    windows.add_(windows)  # cause
    return x


print(doubled(torch.arange(1, 13).reshape(2, 6)))
