"""Nodes of graphs are put into a dense batch; what does not fit is dropped.

kind: graph break
advice: leave out the branch

Made after https://github.com/pyg-team/pytorch_geometric/pull/10660
"""

import torch


def to_dense(x, batch, size, most):
    counts = torch.zeros(size, dtype=torch.long).scatter_add(0, batch, torch.ones_like(batch))
    begins = torch.cat([counts.new_zeros(1), counts.cumsum(0)])[:-1]
    place = torch.arange(batch.shape[0]) - begins[batch] + batch * most
    if counts.max() > most:  # cause
        fits = torch.arange(batch.shape[0]) - begins[batch] < most
        x, place = x[fits], place[fits]
    out = x.new_zeros(size * most, x.shape[1])
    out[place] = x
    return out.view(size, most, -1)


@torch.compile(backend="eager")
def pooled(x, batch):
    return to_dense(x * 2, batch, 3, 4).amax(1)


torch.manual_seed(0)
for sizes in ((2, 3, 4), (4, 1, 4), (5, 2, 2)):
    batch = torch.repeat_interleave(torch.arange(3), torch.tensor(sizes))
    print(round(pooled(torch.randn(9, 5), batch).sum().item(), 4))
