"""A function whose `if` depends on data, so that its graph has to break there."""

import torch


def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def main():
    torch.manual_seed(0)
    total = 0.0
    for _ in range(100):
        total += toy_example(torch.randn(10), torch.randn(10)).sum().item()
    print(f"sum over 100 calls: {total:.4f}")


if __name__ == "__main__":
    main()
