"""A label that is another one in each of many calls, and a dtype that is another one once."""

import sys

import torch

CURES = ("label", "dtype")


def run(cured: frozenset[str]) -> None:
    """Ten labels, then another dtype."""

    def chosen(x, label):
        for _ in range(20):
            x = torch.tanh(x) * (2 if label.startswith("a") else 3)  # cure: label
        return x

    def summed(x):
        for _ in range(20):
            x = torch.tanh(x) + 1  # cure: dtype
        return x.sum()

    one = torch.compile(chosen, backend="aot_eager")
    two = torch.compile(summed, backend="aot_eager")
    for label in "abcdefgh":
        for _ in range(20):
            one(torch.ones(16, 16), "b" if "label" in cured else label)
    for dtype in (torch.float32, torch.float32 if "dtype" in cured else torch.float64):
        for _ in range(20):
            two(torch.ones(16, 16, dtype=dtype))


if __name__ == "__main__":
    run(frozenset(sys.argv[1:]))
