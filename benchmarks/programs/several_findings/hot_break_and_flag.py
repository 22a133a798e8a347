"""A branch on a value in every one of many short steps, and a flag that is switched once."""

import sys

import torch

CURES = ("branch", "flag")
STEPS = 6000


def run(cured: frozenset[str]) -> None:
    """All steps."""

    def clipped(x, is_last):
        y = torch.tanh(x @ x) + x
        if "branch" in cured:
            y = torch.where(y.sum() > 0, y * 0.5, y)
        elif y.sum() > 0:  # cure: branch
            y = y * 0.5
        if is_last and "flag" not in cured:  # cure: flag
            y = y.abs()
        return y

    step = torch.compile(clipped, backend="aot_eager")
    x = torch.full((16, 16), 0.01)
    for number in range(STEPS):
        x = step(x, number == STEPS - 1)


if __name__ == "__main__":
    run(frozenset(sys.argv[1:]))
