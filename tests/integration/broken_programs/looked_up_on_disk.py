"""An encoder looks on disk in each call whether it was calibrated.

kind: graph break
advice: before the call of `CachedEncoder.forward`

An idea of our own.
"""

import os
import tempfile

import torch
from torch import nn

FOLDER = tempfile.mkdtemp()


class CachedEncoder(nn.Module):
    def __init__(self, width=5):
        super().__init__()
        self.encoder = nn.Linear(width, width)
        self.path = os.path.join(FOLDER, "calibrated")

    def forward(self, x):
        y = self.encoder(x).tanh()
        if os.path.exists(self.path):  # cause
            y = y * 0.5
        return y.cos()


torch.manual_seed(0)
encoder = CachedEncoder()
open(encoder.path, "w").close()
compiled = torch.compile(encoder, backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(round(compiled(torch.randn(2, 5)).sum().item(), 4))
