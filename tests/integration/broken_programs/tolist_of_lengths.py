"""Lengths come out of a tensor as a list.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


@torch.compile(backend="eager")
def pieces(x, lengths):
    y = x * 2
    first, second = lengths.tolist()  # cause
    return y.sum() * first + second


print(pieces(torch.arange(6.0), torch.tensor([2, 4])).item())
print(pieces(torch.arange(6.0), torch.tensor([3, 3])).item())
