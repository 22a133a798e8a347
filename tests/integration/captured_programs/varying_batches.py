"""Batches of changing sizes, the last one of a single row: squeeze, batch statistics, means and attention."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv1d(2, 4, 3, padding=1), nn.Linear(4, 1)

    def forward(self, x):
        h = self.conv(x).relu()
        weights = (h.transpose(1, 2) @ h / h.shape[1] ** 0.5).softmax(-1)
        pooled = (weights @ h.transpose(1, 2)).mean(1)
        return self.head(pooled).squeeze(), h.shape[0], h.flatten(1).var(0, unbiased=h.shape[0] > 1).sum()


model = Net()
for batch, length in ((4, 6), (3, 6), (5, 4), (1, 7), (2, 1), (4, 6)):
    out, count, variance = model(torch.randn(batch, 2, length))
    model.zero_grad()
    (out.sum() + variance).backward()
    print(tuple(out.shape), type(count).__name__, count, out.sum().item(), variance.item())
    print(model.conv.weight.grad.norm().item())
