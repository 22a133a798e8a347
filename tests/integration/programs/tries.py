"""Breaks that a setting cures and does not, sizes that change, and what must not happen to the program."""

import os
import sys
from pathlib import Path

import torch

PROGRAM = os.getpid()


@torch.compile(backend="eager")
def scaled(x: torch.Tensor) -> torch.Tensor:
    y = x * x.sum().item()  # a setting cures this
    print("in the program:", os.getpid() == PROGRAM)
    return y + 1


@torch.compile(backend="eager")
def sized(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@torch.compile(backend="eager")
def harmful(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    if os.getpid() != PROGRAM:
        os.abort()
    return x + 2


@torch.compile(backend="eager")
def writes(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    with open("calls", "a") as file:
        file.write("called\n")
    return x + 3


scaled(torch.ones(3))
for size in (3, 5, 7):
    sized(torch.ones(size))
harmful(torch.ones(3))
writes(torch.ones(3))
print(Path("calls").read_text())
sys.exit(3)
