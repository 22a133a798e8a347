"""A histogram of tokens, by torch.bincount.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after https://github.com/pytorch/pytorch/issues/192343
"""

import torch


@torch.compile(backend="eager")
def histogram(x):
    shifted = x + 1
    counts = torch.bincount(shifted, minlength=16).float()  # cause
    return counts / counts.sum()


torch.manual_seed(0)
for step in range(4):
    print([round(each, 3) for each in histogram(torch.randint(0, 12, (20,))).tolist()])
