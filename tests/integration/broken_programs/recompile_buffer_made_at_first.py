"""A buffer that is made in the first call.

kind: recompile
advice: where the object is made

Made after a pattern common in kornia and timm (lazily made buffers).
"""

import torch


class Normalize(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = None

    def forward(self, x):
        if self.mean is None:  # cause
            self.mean = torch.full((3,), 0.5)
        return x - self.mean


normalize = torch.compile(Normalize(), backend="eager")
for _ in range(3):
    print(normalize(torch.ones(3)).tolist())
