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

    def forward(self, x, kept):
        y = self.encoder(x).tanh()
        if kept is not None:
            y = y + kept
        return y.cos()


torch.manual_seed(0)
encoder = CachedEncoder()
torch.save(torch.ones(5), encoder.path)
compiled = torch.compile(encoder, backend="eager")
with torch.no_grad():
    for _ in range(3):
        kept = torch.load(encoder.path) if os.path.exists(encoder.path) else None
        print(round(compiled(torch.randn(2, 5), kept).sum().item(), 4))
