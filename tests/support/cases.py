"""Which cases of a large matrix are run: one of each kind, or all where ALL_CASES=1 asks for them."""

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import pytest

ALL_CASES = os.environ.get("ALL_CASES") == "1"
# For what takes long, and of which a cheaper test tries the usual way.
nightly = pytest.mark.skipif(not ALL_CASES, reason="takes long; ALL_CASES=1 runs it")
_Case = TypeVar("_Case")


def one_of_each(cases: Sequence[_Case], kind: Callable[[_Case], Hashable]) -> list[_Case]:
    """The first case of each kind."""
    if ALL_CASES:
        return list(cases)
    first: dict[Hashable, _Case] = {}
    for case in cases:
        first.setdefault(kind(case), case)
    return list(first.values())


def one_in(number: int, cases: Sequence[_Case]) -> list[_Case]:
    """Every so-manyth case, and the first."""
    return list(cases if ALL_CASES else cases[::number])
