"""Delta debugging: the smallest selection of items with which something still holds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from .failure import Failure
from .trials import Candidate, Trials

Item = TypeVar("Item")
Program = TypeVar("Program")

# Which of several candidates, in their order, is the first that fails as it should; None where none does.
First = Callable[[Sequence[Sequence[Item]]], int | None]


def minimal(items: Sequence[Item], first: First[Item]) -> Sequence[Item]:
    """A part of `items` of which no single item can be left out (ddmin without its subsets).

    Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002.
    """
    parts = 2
    while items:
        parts = min(parts, len(items))
        candidates = [_without(items, part, parts) for part in range(parts)]
        found = first(candidates)
        if found is not None:
            items, parts = candidates[found], max(parts - 1, 2)
        elif parts == len(items):
            return items
        else:
            parts *= 2
    return items


def _without(items: Sequence[Item], part: int, parts: int) -> Sequence[Item]:
    """All but one of so many parts of about the same length."""
    begin, end = part * len(items) // parts, (part + 1) * len(items) // parts
    return [*items[:begin], *items[end:]]


def least(low: int, high: int, holds: Callable[[Sequence[int]], int | None]) -> int:
    """The least number for which something holds, of those from `low` on; `high` if for none below.

    What holds for a number is taken to hold for all above it. Several numbers are tried at once.
    """
    while low < high:
        step = max(1, (high - low) // 3)
        tried = sorted({low + step - 1, min(low + 2 * step - 1, high - 1)})
        found = holds(tried)
        if found is None:
            low = tried[-1] + 1
        else:
            low, high = (low if found == 0 else tried[found - 1] + 1), tried[found]
    return high


class Shrinker(ABC, Generic[Program]):
    """Makes a program smaller as long as it fails in the same way; `kept` is told of each smaller one."""

    def __init__(
        self, program: Program, failure: Failure, trials: Trials, kept: Callable[[Candidate], None]
    ) -> None:
        self.program = program
        self._failure = failure
        self._trials = trials
        self._kept = kept

    @abstractmethod
    def candidate(self, program: Program) -> Candidate:
        """The texts to try of a program."""

    @abstractmethod
    def shrink(self) -> None:
        """Shrink until nothing gets smaller; BudgetSpent ends it earlier."""

    @abstractmethod
    def rename(self) -> None:
        """Replace the names of the user's by plain ones, if it fails with those as well."""

    def take_first(self, programs: Sequence[Program | None]) -> int | None:
        """The index of the first of these that fails, which is gone on with; None where none does."""
        candidates = [None if each is None else self.candidate(each) for each in programs]
        found = self._trials.first(candidates, self._failure)
        program = None if found is None else programs[found]
        if program is not None:
            self.program = program
            self._kept(self.candidate(program))
        return found
