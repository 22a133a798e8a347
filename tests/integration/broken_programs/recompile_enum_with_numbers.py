"""A member of an enumeration, with whose value is calculated.

kind: recompile
advice: pass the value in as a tensor
"""

import enum

import torch


class Day(enum.Enum):
    SHORT = 0.5
    USUAL = 1.0
    LONG = 1.5


@torch.compile(backend="eager")
def expected(sales, day):
    usual = sales / day.value  # cause
    return usual.sum() if day is Day.SHORT else usual.mean()


for day in Day:
    print(expected(torch.ones(4), day).item())
