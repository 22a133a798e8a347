"""The features of a layer are taken by a hook, which each call registers and removes.

kind: fell back to eager
advice: put that key in before the first call

Made after a pattern common in perceptual losses (hooks on a backbone).
"""

import torch
from torch import nn


class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 6, 3))

    def forward(self, x):
        features = {}

        def keep(module, inputs, output):
            features["first"] = output

        handle = self.backbone[0].register_forward_hook(keep)
        out = self.backbone(x)
        handle.remove()  # cause
        return out.mean() + features["first"].abs().mean()


torch.manual_seed(0)
model = torch.compile(Perceptual(), backend="eager")
for _ in range(3):
    print(round(model(torch.randn(2, 3, 8, 8)).item(), 4))
