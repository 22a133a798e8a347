"""Features of several levels are split by sizes that are in a tensor.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/huggingface/transformers/pull/33412
"""

import torch
from torch import nn
from torch.nn import functional


class MultiScale(nn.Module):
    def __init__(self, width=8, levels=2):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.weight = nn.Parameter(torch.linspace(0, 1, levels))

    def forward(self, features, points, shapes):
        value = self.value(features)
        parts = value.split([height.item() * width.item() for height, width in shapes], dim=1)  # cause
        total = 0
        for level, part in enumerate(parts):
            total = total + self.weight[level] * part.mean(1)
        return functional.relu(total) + points.mean(1)


torch.manual_seed(0)
model = torch.compile(MultiScale(), backend="eager")
shapes = torch.tensor([[4, 4], [2, 2]])
with torch.no_grad():
    for seed in range(3):
        torch.manual_seed(seed)
        print(round(model(torch.randn(2, 20, 8), torch.randn(2, 5, 8), shapes).sum().item(), 4))
