"""Whether a batch is changed is drawn, and only then which of its images are.

kind: graph break
advice: decide and draw in front

Made after https://github.com/kornia/kornia/pull/3793
"""

import torch
from torch import nn


class Inverted(nn.Module):
    def chances(self, count):
        gate = torch.bernoulli(torch.full((1,), 0.6))
        if gate.sum() == 1:  # cause
            chances = torch.bernoulli(torch.full((count,), 0.5))
        else:
            chances = torch.zeros(count)
        return chances

    def forward(self, x):
        chosen = self.chances(x.shape[0])[:, None]
        return chosen * (1 - x) + (1 - chosen) * x


torch.manual_seed(0)
model = torch.compile(Inverted(), backend="eager")
for _ in range(6):
    print(round(model(torch.rand(4, 3)).sum().item(), 4))
