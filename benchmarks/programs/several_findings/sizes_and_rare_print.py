"""A size that grows until torch gives up, and a print of an object that is met once in a while."""

import sys

import torch

CURES = ("size", "print")


class Note:
    """Something that torch cannot print later."""

    def __repr__(self) -> str:
        return "note"


def run(cured: frozenset[str]) -> None:
    """A dozen sizes, thirty steps each."""
    note = Note()

    def attended(x):
        for _ in range(8):
            x = torch.softmax(x @ x.transpose(0, 1) / x.size(1) ** 0.5, -1) @ x  # cure: size
        if x.size(0) > 3:
            x = x + 1
        return x

    def reported(x):
        y = x.mean()
        if "print" not in cured:
            print(note, end="", file=sys.stderr)  # cure: print
        return y * 2

    one = torch.compile(attended, backend="aot_eager", dynamic=None if "size" in cured else False)
    two = torch.compile(reported, backend="aot_eager")
    for rows in range(4, 16):
        for _ in range(30):
            y = one(torch.ones(rows, 32))
        two(y[:2, :2])


if __name__ == "__main__":
    run(frozenset(sys.argv[1:]))
