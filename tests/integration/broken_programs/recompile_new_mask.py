"""A mask function is made anew for each call.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/meta-pytorch/attention-gym/issues/28
"""

import torch


@torch.compile(backend="eager")
def attend(x, mask):
    return torch.where(mask(x), x, 0)


for limit in (1, 2, 3):

    def mask(x, limit=limit):
        return x < limit  # cause

    print(attend(torch.arange(4), mask).tolist())
