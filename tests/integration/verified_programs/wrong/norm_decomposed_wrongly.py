"""The program has given Inductor a wrong decomposition of what a layer of torch's is made of.

Planted.
kind: value
stage: decompositions
"""

import torch
from torch._inductor.decomposition import decompositions


def norm_of_groups(x, weight, bias, n, c, hxw, group, eps):
    """Forgets that the deviation has a root."""
    grouped = x.reshape(n, group, -1)
    mean = grouped.mean(dim=-1, keepdim=True)
    variance = grouped.var(dim=-1, keepdim=True, correction=0)
    normed = ((grouped - mean) / (variance + eps)).reshape(x.shape)
    normed = normed * weight.reshape(1, c, 1) + bias.reshape(1, c, 1)
    return normed, mean.squeeze(-1), variance.squeeze(-1)


decompositions[torch.ops.aten.native_group_norm.default] = norm_of_groups


class Convolved(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv1d(2, 4, 3, padding=1)
        self.norm = torch.nn.GroupNorm(2, 4)
        self.last = torch.nn.Conv1d(4, 1, 1)

    def normalized(self, x):
        x = torch.relu(x)
        return self.norm(x)  # cause

    def forward(self, x):
        x = self.first(x)
        x = self.normalized(x)
        x = self.last(x)
        return x.flatten()


torch.manual_seed(0)
convolved = torch.compile(Convolved())
with torch.no_grad():
    print(convolved(torch.linspace(-2.0, 2.0, 10).reshape(1, 2, 5)).tolist())
