"""A suite in a few figures for each backend: the geometric mean of its speed-ups, how many programs pass."""

from collections.abc import Sequence
from statistics import geometric_mean

from ..bench.machine import Machine
from ..shared.quick_dataclass import dataclass
from .rows import ProgramResult, Row


@dataclass(frozen=True)
class BackendSummary:
    """A backend over all programs that were run with it on one kind of hardware, which is named where there
    were several: no mean is taken over machines that differ.

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
    hardware: str | None = None


def summarize(results: Sequence[ProgramResult]) -> tuple[BackendSummary, ...]:
    """One for each backend on each hardware, in the order in which they first come."""
    kinds = _hardware(results)
    has_several = len(set(kinds.values())) > 1
    rows: dict[tuple[str, str | None], list[Row]] = {}
    for result in results:
        hardware = None
        if has_several and result.rows:
            hardware = "no machine" if result.machine is None else kinds[_name(result.machine)]
        for row in result.rows:
            rows.setdefault((row.backend, hardware), []).append(row)
    return tuple(_summary(backend, found, hardware) for (backend, hardware), found in rows.items())


def pass_rates(results: Sequence[ProgramResult]) -> dict[str, float]:
    """By backend, of all programs that were run with it, wherever that was."""
    passed: dict[str, list[bool]] = {}
    for result in results:
        for row in result.rows:
            passed.setdefault(row.backend, []).append(row.has_passed)
    return {backend: sum(each) / len(each) for backend, each in passed.items()}


def _name(machine: Machine) -> tuple[str, str]:
    """Containers on different machines may have one host name."""
    return machine.host, machine.cpu


def _hardware(results: Sequence[ProgramResult]) -> dict[tuple[str, str], str]:
    """The CPU of each machine, and the GPUs that any program used there."""
    machines = [result.machine for result in results if result.machine is not None and result.rows]
    return {
        name: ", ".join(
            dict.fromkeys([name[1], *(gpu for each in machines if _name(each) == name for gpu in each.gpus)])
        )
        for name in map(_name, machines)
    }


def _summary(backend: str, rows: Sequence[Row], hardware: str | None) -> BackendSummary:
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
        hardware=hardware,
    )
