"""`torch.compile` as a decorator, called with changing sizes and flags, so that it recompiles."""

import torch


@torch.compile
def smooth(x, width, normalise=False):
    for _ in range(width):
        x = (x + torch.roll(x, 1) + torch.roll(x, -1)) / 3
    if normalise:
        x = x / x.norm()
    return x


def main():
    torch.manual_seed(0)
    for size in (16, 24, 40, 64):  # the first is compiled for its size, the next for any size
        print(f"size {size}: {smooth(torch.rand(size), 1).sum().item():.4f}")
    for normalise in (False, True):  # a Python value that steers the code is guarded on
        y = smooth(torch.rand(32), 1, normalise)
        print(f"normalise {normalise}: {y.sum().item():.4f}")
    for width in (2, 3):
        print(f"width {width}: {smooth(torch.rand(32), width).sum().item():.4f}")


if __name__ == "__main__":
    main()
