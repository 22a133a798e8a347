"""A suite in a few figures for each backend: the geometric mean of its speed-ups, how many programs pass."""

from collections.abc import Sequence
from statistics import geometric_mean

from ..shared.quick_dataclass import dataclass
from .rows import ProgramResult, Row


@dataclass(frozen=True)
class BackendSummary:
    """A backend over all programs that were run with it.

    The geometric mean is over the `compared` programs: those that passed and have a speed-up. `faster` and
    `slower` count those whose interval says so. `verified` is how many of those that passed agree with eager;
    of the others nothing could be compared.
    """

    backend: str
    programs: int
    passed: int
    failed: int
    disagreeing: int
    verified: int
    compared: int
    geometric_mean: float | None
    faster: int
    slower: int
    pass_rate: float


def summarize(results: Sequence[ProgramResult]) -> tuple[BackendSummary, ...]:
    """One for each backend, in the order in which they first come."""
    backends = dict.fromkeys(row.backend for result in results for row in result.rows)
    return tuple(_summary(name, [row for each in results if (row := each.row(name))]) for name in backends)


def _summary(backend: str, rows: Sequence[Row]) -> BackendSummary:
    passed = [row for row in rows if row.has_passed]
    speeds = [row.speed_up for row in passed if row.speed_up is not None]
    return BackendSummary(
        backend=backend,
        programs=len(rows),
        passed=len(passed),
        failed=sum(row.outcome == "failed" for row in rows),
        disagreeing=sum(row.outcome == "disagrees" for row in rows),
        verified=sum(row.agreement == "agrees" for row in passed),
        compared=len(speeds),
        geometric_mean=geometric_mean(speed.mean for speed in speeds) if speeds else None,
        faster=sum(speed.low is not None and speed.low > 1 for speed in speeds),
        slower=sum(speed.high is not None and speed.high < 1 for speed in speeds),
        pass_rate=len(passed) / len(rows),
    )
