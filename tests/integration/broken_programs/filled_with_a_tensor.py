"""A padded batch is filled with a value that is in a tensor.

kind: graph break
advice: expand(size)

Made after https://github.com/pyg-team/pytorch_geometric/pull/7537
"""

import torch


@torch.compile(backend="eager")
def padded(x, rows, fill):
    out = x.new_full((3, x.shape[1]), fill)  # cause
    out = out.index_copy(0, rows, x)
    return torch.softmax(out, 0).cumsum(0)


torch.manual_seed(0)
for fill in (-1.0, -2.0, -4.0):
    print(round(padded(torch.randn(2, 4), torch.tensor([0, 2]), torch.tensor(fill)).sum().item(), 4))
