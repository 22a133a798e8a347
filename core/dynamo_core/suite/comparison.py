"""What changed in a suite since an earlier run: slower or faster beyond both intervals, failing, fixed."""

from collections.abc import Iterator, Sequence
from typing import Literal

from ..shared.quick_dataclass import dataclass
from .rows import ProgramResult, Row, Speed

Change = Literal["newly failing", "slower", "gone", "faster", "passes now", "new"]
WORSE: tuple[Change, ...] = ("newly failing", "slower")


@dataclass(frozen=True)
class Difference:
    """A program under a backend that is not what it was; `problem` says why it fails now."""

    program: str
    backend: str
    change: Change
    before: Speed | None
    after: Speed | None
    problem: str | None = None


def differences(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> tuple[Difference, ...]:
    """The worst first. Speed-ups are compared, since they are taken against eager on the same machine.

    Where either run has no interval, one round say, or they were on different hardware, neither slower nor
    faster is said.
    """
    old, new = _by_key(before), _by_key(after)
    elsewhere = _on_other_hardware(before, after)
    found = [
        difference
        for key in (*new, *(key for key in old if key not in new))
        if (
            difference := _difference(
                *key, old.get(key), new.get(key), has_same_hardware=key[0] not in elsewhere
            )
        )
    ]
    order: list[Change] = [*WORSE, "gone", "faster", "passes now", "new"]
    return tuple(sorted(found, key=lambda each: order.index(each.change)))


def undecided(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> int:
    """How many programs under a backend passed both times, and have no interval on either side."""
    elsewhere = _on_other_hardware(before, after)
    pairs = [
        (was, now) for (program, _), was, now in _passed_twice(before, after) if program not in elsewhere
    ]
    return sum(_interval(was) is None or _interval(now) is None for was, now in pairs)


def on_other_hardware(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> int:
    """How many programs under a backend passed both times, on different hardware."""
    elsewhere = _on_other_hardware(before, after)
    return sum(program in elsewhere for (program, _), _, _ in _passed_twice(before, after))


def _on_other_hardware(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> set[str]:
    """The programs whose hardware was another, or is not known of one side."""
    was = {result.program: result.hardware for result in before}
    return {each.program for each in after if each.program in was and each.hardware != was[each.program]}


def _passed_twice(
    before: Sequence[ProgramResult], after: Sequence[ProgramResult]
) -> Iterator[tuple[tuple[str, str], Row, Row]]:
    old = _by_key(before)
    for key, row in _by_key(after).items():
        if key in old and not row.is_eager and old[key].has_passed and row.has_passed:
            yield key, old[key], row


def _by_key(results: Sequence[ProgramResult]) -> dict[tuple[str, str], Row]:
    return {(result.program, row.backend): row for result in results for row in result.rows}


def _difference(
    program: str, backend: str, was: Row | None, now: Row | None, *, has_same_hardware: bool
) -> Difference | None:
    changes = _changes(was, now, has_same_hardware)
    change = next(changes, None)
    if change is None:
        return None
    before, after = (None if row is None else row.speed_up for row in (was, now))
    return Difference(program, backend, change, before, after, _problem(now))


def _changes(was: Row | None, now: Row | None, has_same_hardware: bool) -> Iterator[Change]:
    if was is None or now is None:
        yield "new" if was is None else "gone"
    elif was.has_passed != now.has_passed:
        yield "passes now" if now.has_passed else "newly failing"
    elif now.has_passed and has_same_hardware:
        old, new = _interval(was), _interval(now)
        if old is not None and new is not None and new[1] < old[0]:
            yield "slower"
        if old is not None and new is not None and new[0] > old[1]:
            yield "faster"


def _interval(row: Row) -> tuple[float, float] | None:
    speed = row.speed_up
    return None if speed is None or speed.low is None or speed.high is None else (speed.low, speed.high)


def _problem(row: Row | None) -> str | None:
    if row is None or row.has_passed:
        return None
    return row.problem or row.agreement_detail
