"""Two stages of an inference pipeline, each a graph of its own, and each best served by another backend.

The stages are compiled apart, as they are where something between them cannot be traced:

- `warp` resamples an image along a field of positions. Eager has a vectorized kernel for it; Inductor takes
  it apart into single loads, which on a CPU takes several times as long.
- `normalize` is a chain of pointwise operations and reductions. Inductor fuses it into a few loops.
"""

import sys
import time

import torch
import torch.nn.functional as F


def warp(image, positions):
    return F.grid_sample(image, positions, align_corners=False)


def normalize(x):
    x = torch.tanh(x) * torch.sigmoid(x) + torch.erf(x)
    x = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
    return torch.softmax(x * 0.5 + torch.sin(x), dim=-1) * torch.exp(-x * x)


@torch.compiler.disable
def between(x):
    """What Dynamo does not trace: here the graphs part."""
    return x


def pipeline(image, positions):
    return between(normalize(between(warp(image, positions))))


def main(steps):
    torch.set_num_threads(1)  # as in a server that has a process for each core
    torch.manual_seed(0)
    image, positions = torch.randn(1, 16, 192, 192), torch.rand(1, 192, 192, 2) * 2 - 1
    with torch.no_grad():
        for _ in range(3):
            result = pipeline(image, positions)
        began = time.perf_counter()
        for _ in range(steps):
            result = pipeline(image, positions)
        seconds = time.perf_counter() - began
    print(f"result {result.mean().item():.6f}")
    print(f"{seconds / steps * 1e3:.2f} ms a step", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
