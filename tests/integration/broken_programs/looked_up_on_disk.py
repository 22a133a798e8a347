"""An embedding looks for its table on disk in each call.

kind: graph break
advice: before the call of `forward`

Made after https://discuss.pytorch.org/t/caching-features-on-disk-in-forward/95541
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
        self.path = os.path.join(FOLDER, "prototypes.pt")

    def forward(self, x):
        y = self.encoder(x).tanh()
        if os.path.exists(self.path):  # cause
            y = y + torch.load(self.path)
        return y.cos()


torch.manual_seed(0)
encoder = CachedEncoder()
torch.save(torch.ones(5), encoder.path)
compiled = torch.compile(encoder, backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(round(compiled(torch.randn(2, 5)).sum().item(), 4))
