"""What comes back is no generator any more.

After pytorch/pytorch#198190.
kind: structure
stage: tracing
"""

import torch


@torch.compile(backend="eager")
def batches(x):
    def parts():
        yield x * 1
        yield x * 2
        return "done"

    return parts()  # cause


parts = batches(torch.ones(2))
print(type(parts).__name__)
