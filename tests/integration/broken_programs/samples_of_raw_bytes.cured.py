"""Samples that numpy reads from bytes, in an array that torch cannot copy.

kind: compiler error
advice: torch.compiler.disable
"""

import numpy as np
import torch


class Features(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.samples = np.frombuffer(b"\0\1\2\3\4\5\6\7", dtype="<i2")

    @torch.compiler.disable
    def window(self, gain):
        return torch.from_numpy(self.samples.copy()) * gain

    def forward(self, gain):
        return torch.tanh(self.window(gain) / 1024)


features = Features()
model = torch.compile(features, backend="eager")
for number in range(3):
    gain = torch.tensor(1.0 + number)
    try:
        found = model(gain)
    except AssertionError:
        found = features(gain)
    print([round(each, 4) for each in found.tolist()])
