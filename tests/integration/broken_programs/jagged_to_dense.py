"""Clicks of each user, one after the other, become a padded batch as long as the longest.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/meta-pytorch/torchrec/pull/3160
"""

import torch
from torch import nn


class Jagged:
    def __init__(self, values, lengths):
        self.values, self.lengths = values, lengths

    def to_dense(self):
        longest = int(self.lengths.max().item())  # cause
        ends = self.lengths.cumsum(0)
        place = (ends - self.lengths)[:, None] + torch.arange(longest)
        is_there = place < ends[:, None]
        return self.values[place.clamp(max=len(self.values) - 1)] * is_there, is_there


class Clicks(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.items = nn.Embedding(20, width)

    def forward(self, values, lengths):
        dense, is_there = Jagged(values, lengths).to_dense()
        rows = self.items(dense) * is_there[..., None]
        return rows.sum(1) / lengths[:, None]


torch.manual_seed(0)
model = torch.compile(Clicks(), backend="eager")
with torch.no_grad():
    for lengths in ([2, 3, 5], [4, 4, 2], [1, 6, 3]):
        print(round(model(torch.arange(10), torch.tensor(lengths)).sum().item(), 4))
