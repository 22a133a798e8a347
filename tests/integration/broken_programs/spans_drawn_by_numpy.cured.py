import numpy as np
import torch


def spans(batch, length, probability, size):
    epsilon = np.random.rand(1).item()
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

    def _mask(self, hidden, mask):
        return torch.where(mask[..., None], self.masked, hidden)

    def forward(self, hidden, mask):
        return self.layer(self._mask(hidden.tanh(), mask))


torch.manual_seed(0)
np.random.seed(0)
encoder = torch.compile(Encoder(), backend="eager")
for step in range(4):
    drawn = torch.tensor(spans(2, 12, 0.25, 1))
    print(round(encoder(torch.full((2, 12, 8), 0.1 * step), drawn).sum().item(), 4))
