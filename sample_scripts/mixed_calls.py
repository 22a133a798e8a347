"""A compiled function that breaks its graph by a print, an `.item()` and a branch on data."""

import torch


@torch.compile
def rescale(x):
    x = torch.sin(x) * 2
    print(f"rescaling {tuple(x.shape)}")  # a side effect that cannot go into a graph
    largest = x.abs().max().item()  # a tensor's value becomes a Python number
    x = x / largest
    if x.sum() > 0:  # the next instruction depends on data
        x = x.flip(0)
    return x.cumsum(0)


def main():
    torch.manual_seed(0)
    x = torch.rand(12) + 0.1
    for scale in (1.0, -1.0, 0.5):
        y = rescale(scale * x)
        print(f"first {y[0].item():.4f}, last {y[-1].item():.4f}")


if __name__ == "__main__":
    main()
