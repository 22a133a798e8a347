"""Spans are drawn by numpy on two lines of a helper.

kind: graph break
advice: before the call of `Encoder.forward`

Made after https://github.com/huggingface/transformers/issues/31538
"""

import numpy as np
import torch


def spans(batch, length, probability, size):
    epsilon = np.random.rand(1).item()  # cause
    count = int(probability * length / size + epsilon)
    mask = np.zeros((batch, length), dtype=bool)
    for row in range(batch):
        starts = np.random.choice(np.arange(length - size + 1), count, replace=False)
        for offset in range(size):
            mask[row, starts + offset] = True
    return mask


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.masked = torch.nn.Parameter(torch.zeros(8))
        self.layer = torch.nn.Linear(8, 8)

    def _mask(self, hidden):
        mask = torch.tensor(spans(hidden.shape[0], hidden.shape[1], 0.25, 1))
        return torch.where(mask[..., None], self.masked, hidden)

    def forward(self, hidden):
        return self.layer(self._mask(hidden.tanh()))


torch.manual_seed(0)
np.random.seed(0)
encoder = torch.compile(Encoder(), backend="eager")
for step in range(4):
    print(round(encoder(torch.full((2, 12, 8), 0.1 * step)).sum().item(), 4))
