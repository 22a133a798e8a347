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

    def forward(self, x, is_calibrated):
        y = self.encoder(x).tanh()
        if is_calibrated:
            y = y * 0.5
        return y.cos()


torch.manual_seed(0)
encoder = CachedEncoder()
open(encoder.path, "w").close()
compiled = torch.compile(encoder, backend="eager")
with torch.no_grad():
    for _ in range(3):
        is_calibrated = os.path.exists(encoder.path)
        print(round(compiled(torch.randn(2, 5), is_calibrated).sum().item(), 4))
