"""A head is chosen by the group that another head predicts.

kind: graph break
advice: choose by the tensor

Made after a pattern common in cascades of classifiers.
"""

import torch
from torch import nn


class Cascade(nn.Module):
    def __init__(self):
        super().__init__()
        self.coarse = nn.Linear(6, 2)
        self.fine = nn.ModuleDict({"cat": nn.Linear(6, 3), "dog": nn.Linear(6, 3)})
        self.names = ["cat", "dog"]

    def forward(self, x):
        group = self.names[self.coarse(x).sum(0).argmax().item()]  # cause
        return self.fine[group](x).softmax(-1)


torch.manual_seed(0)
model = torch.compile(Cascade().eval(), backend="eager")
with torch.no_grad():
    for i in range(6):
        print([round(v, 4) for v in model(torch.randn(2, 6) * (i + 1)).flatten().tolist()])
