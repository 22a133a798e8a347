"""A model that makes an attribute where it is missing.

kind: recompile
advice: set it always
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if not hasattr(self, "scale"):  # cause
            self.scale = torch.tensor(2.0)
        return x * self.scale


model = torch.compile(Model(), backend="eager")
for _ in range(3):
    print(model(torch.ones(2)).tolist())
