"""Images of several sizes go through one transformer.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/pytorch/pytorch/issues/150702
"""

import torch


@torch.compile(backend="eager")
def embed(x):
    height, width = x.shape[2] // 2, x.shape[3] // 2  # cause
    return x.reshape(1, 4, height, 2, width, 2).mean()


for height, width in ((8, 8), (8, 12), (16, 8)):
    print(embed(torch.ones(1, 4, height, width)).item())
