"""The features of each batch are written to a file of numpy's.

kind: graph break
advice: after the call of `Backbone.forward`

Made after a pattern common in threads on extracting embeddings (`np.save` in a hook or writer).
"""

import io

import numpy as np
import torch
from torch import nn


class FeatureWriter:
    def __init__(self):
        self.buffer = io.BytesIO()
        self.shapes = []

    def __call__(self, feats):
        array = feats.detach().cpu().numpy()
        np.save(self.buffer, array)  # cause
        self.shapes.append(array.shape)


class Backbone(nn.Module):
    def __init__(self, writer):
        super().__init__()
        self.writer = writer
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.norm(self.stem(x)).relu()
        feats = x.mean((2, 3))
        self.writer(feats)
        return self.fc(feats)


torch.manual_seed(0)
writer = FeatureWriter()
model = Backbone(writer).eval()
extract = torch.compile(model, backend="eager")
with torch.inference_mode():
    for _ in range(4):
        print(f"{extract(torch.randn(2, 3, 8, 8)).sum().item():.4f}")
print(writer.shapes, writer.buffer.tell())
