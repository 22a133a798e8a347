"""A frame that runs eager because of an exception, and a size of which there are three."""

import sys

import torch

CURES = ("exception", "size")


class Full(Exception):
    """What ends a step."""


def run(cured: frozenset[str]) -> None:
    """Three hundred steps that end in an exception, and three sizes."""

    def filled(x):
        y = (x.sin() + 1).cos() * x
        if "exception" in cured:
            return y
        raise Full  # cure: exception

    def scaled(x):
        for _ in range(30):
            x = torch.relu(x) + x.mean()  # cure: size
        return x

    one = torch.compile(filled, backend="aot_eager")
    two = torch.compile(scaled, backend="aot_eager", dynamic=True if "size" in cured else None)
    for _ in range(300):
        try:
            one(torch.ones(64, 64))
        except Full:
            pass
    for rows in (3, 4, 5):
        for _ in range(20):
            two(torch.ones(rows, 16))


if __name__ == "__main__":
    run(frozenset(sys.argv[1:]))
