"""Three stages of an inference pipeline, each a graph of its own, and each best served by another backend.

The stages are compiled apart, as they are where something between them cannot be traced:

- `features`: convolutions, which TorchScript's optimization for inference (`ofi`) folds batch norm and ReLU
  into, and runs in oneDNN's blocked layout.
- `normalize`: a chain of pointwise operations and reductions, which Inductor fuses into a loop or two.
- `lookup`: one small copy of a few rows, for which nothing is faster than to call it.
"""

import sys
import time

import torch
from torch import nn


class Features(nn.Module):
    def __init__(self, channels=64, layers=4):
        super().__init__()
        blocks = []
        for i in range(layers):
            blocks += [
                nn.Conv2d(3 if i == 0 else channels, channels, 3, padding=1, bias=False),
                nn.BatchNorm2d(channels),
                nn.ReLU(),
            ]
        self.blocks = nn.Sequential(*blocks)

    def forward(self, x):
        return self.blocks(x)


def normalize(x):
    x = torch.tanh(x) * torch.sigmoid(x) + torch.erf(x)
    x = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
    return torch.softmax(x * 0.5 + torch.sin(x), dim=-1) * torch.exp(-x * x)


def lookup(table, rows):
    return table[rows]


@torch.compiler.disable
def between(x):
    """What Dynamo does not trace: here the graphs part."""
    return x


def pipeline(model, image, table, rows):
    features = between(model(image))
    normal = between(normalize(features))
    picked = between(lookup(table, rows))
    return normal.mean() + picked.mean()


def main(steps):
    torch.set_num_threads(1)  # as in a server that has a process for each core
    torch.manual_seed(0)
    model = Features().eval()
    image, table, rows = torch.randn(2, 3, 48, 48), torch.randn(512, 32), torch.arange(0, 64, 2)
    with torch.no_grad():
        for _ in range(3):
            result = pipeline(model, image, table, rows)
        began = time.perf_counter()
        for _ in range(steps):
            result = pipeline(model, image, table, rows)
        seconds = time.perf_counter() - began
    print(f"result {result.item():.4f}")
    print(f"{seconds / steps * 1e3:.2f} ms a step", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
