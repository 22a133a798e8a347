"""The figures of each backend over all rounds, compared with eager's.

Only the same steps are compared, by their numbers, without the first and without those in which any of the
runs compiled something.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Annotated, Literal

from ..shared.declared import Ge, Gt
from ..shared.quick_dataclass import dataclass
from ..shared.timing import SURE, Ratio, ratio_of
from .measured import Backend, Bench, OutputComparison, Run, compare_outputs

_LEAST_BLOCKS = 2
MARGIN = 0.03  # a backend that is surely within this share of eager's time takes the same time

Basis = Literal["step", "run"]
Block = tuple[int, int]  # from the start of one step to that of a later one
_LARGEST = 1e9  # the largest bound of a speed-up


@dataclass(frozen=True)
class Speed:
    """How many times as fast as eager, and the 95 % confidence interval."""

    mean: Annotated[float, Gt(0)]
    low: Annotated[float | None, "of the 95 % confidence interval; null with one round"]
    high: float | None
    rounds: Annotated[int, Ge(1)]


def speed_of(ratio: Ratio) -> Speed:
    """The speed-up as it is stored and in documents."""
    low, high = ratio.interval or (None, None)
    # With two rounds that differ much, the end of the interval may be infinite, which JSON does not have.
    return Speed(ratio.estimate, low, None if high is None else min(high, _LARGEST), ratio.rounds)


@dataclass(frozen=True)
class Figures:
    """The figures of a backend. `seconds` has one time for each round: of a step or the whole run (`basis`).

    `why_run` says why no steps are compared. `compile_cold` is from the first round, `compile_warm` the
    median of the others. `break_even` is a number of steps; None where it is not known that a step is faster.
    The peaks are bytes, the median over rounds. `output` compares what the program printed with eager's first
    run. `differs` says whether its time differs from eager's with the confidence SURE, and `is_decided`
    whether more rounds would add nothing: it surely differs, or is surely the same. Both are None where there
    are no two rounds to compare.
    """

    backend: Backend
    basis: Basis
    why_run: str | None
    seconds: tuple[float, ...]
    steps_compared: int | None
    speed_up: Ratio | None
    differs: bool | None
    is_decided: bool | None
    compile_cold: float | None
    compile_warm: float | None
    break_even: int | None
    peak_resident: float | None
    peak_cuda: float | None
    output: OutputComparison | None

    @property
    def median_seconds(self) -> float | None:
        """The median over the rounds; None where none succeeded."""
        return median(self.seconds) if self.seconds else None

    @property
    def first_success(self) -> Run | None:
        """The run from which the counts of graphs and breaks are taken."""
        return next(iter(self.backend.successes.values()), None)


def compare(bench: Bench) -> list[Figures]:
    """The figures of every backend, eager's first."""
    eager = bench.eager
    return [_figures(backend, eager, bench) for backend in bench.backends]


def _figures(backend: Backend, eager: Backend, bench: Bench) -> Figures:
    runs, eagers = backend.successes, eager.successes
    steps = steady_steps([*eagers.values(), *runs.values()])
    why = bench.no_step or (_why_no_steps(backend, eager) if steps is None else None)
    blocks = steps if why is None else None
    times = {number: _time(run, blocks) for number, run in runs.items()}
    eager_times = {number: _time(run, blocks) for number, run in eagers.items()}
    pairs = [
        (eager_time, time)
        for number, time in times.items()
        if time is not None and (eager_time := eager_times.get(number)) is not None
    ]
    cold = runs[1].compile_seconds if 1 in runs else None
    known = [time for time in times.values() if time is not None]
    speed = None if backend.is_eager else ratio_of(pairs)
    sure = None if backend.is_eager else ratio_of(pairs, SURE)
    is_known = sure is not None and sure.differs is not False
    both = (median([a for a, _ in pairs]), median([b for _, b in pairs])) if pairs else (None, None)
    return Figures(
        backend=backend,
        basis="run" if blocks is None else "step",
        why_run=why,
        seconds=tuple(known),
        steps_compared=None if blocks is None else sum(last - first for first, last in blocks),
        speed_up=speed,
        differs=None if sure is None else sure.differs,
        is_decided=_is_decided(sure),
        compile_cold=cold,
        compile_warm=_median(run.compile_seconds for number, run in runs.items() if number > 1),
        break_even=break_even_steps(cold, *both) if blocks is not None and is_known else None,
        peak_resident=_median(run.peaks.get("resident") for run in runs.values()),
        peak_cuda=_median(
            max((size for where, size in run.peaks.items() if where != "resident"), default=None)
            for run in runs.values()
        ),
        output=_output(backend, eager),
    )


def _is_decided(speed: Ratio | None) -> bool | None:
    return None if speed is None or speed.differs is None else speed.differs or speed.is_within(MARGIN)


def break_even_steps(compile_seconds: float | None, eager: float | None, other: float | None) -> int | None:
    """After how many steps compiling has paid off; None where a step is not faster or a time is unknown."""
    if compile_seconds is None or eager is None or other is None or other >= eager:
        return None
    return max(1, round(compile_seconds / (eager - other)))


def steady_steps(runs: Sequence[Run]) -> list[Block] | None:
    """The blocks of steps in which none of these runs compiled; None where they cannot be compared."""
    if not runs or len({run.steps for run in runs}) > 1:
        return None
    in_all_runs = set.intersection(*(set(run.marks) for run in runs))
    blocks = [
        block
        for block in pairwise(sorted(number for number in in_all_runs if number > 1))
        if not any(_compiled_in(run, block) for run in runs)
    ]
    return blocks if len(blocks) >= _LEAST_BLOCKS else None


def _compiled_in(run: Run, block: Block) -> bool:
    begin, end = run.marks[block[0]], run.marks[block[1]]
    return any(began < end and ended > begin for began, ended in run.compiling)


def _time(run: Run, blocks: Sequence[Block] | None) -> float | None:
    """The median step of a run; without `blocks`, the time of the whole run without start and compiling."""
    if blocks is None:
        return run.working_seconds
    steps = [(run.marks[last] - run.marks[first]) / 1e9 / (last - first) for first, last in blocks]
    return max(0.0, median(steps) - run.mark_seconds)


def _why_no_steps(backend: Backend, eager: Backend) -> str | None:
    counts = [next(iter(each.successes.values()), Run()).steps for each in (eager, backend)]
    if counts[0] != counts[1]:
        return f"eager begins {counts[0]:,} steps, {backend.name} {counts[1]:,}"
    if not counts[0]:
        return "no step was seen"
    return "too few steps are left in which nothing was compiled"


def _output(backend: Backend, eager: Backend) -> OutputComparison | None:
    """The output of the backend's first run compared with eager's first; for eager, its second run's."""
    runs = list(backend.successes.values())[1 if backend.is_eager else 0 :]
    expected = next(iter(eager.successes.values()), None)
    if expected is None or not runs:
        return None
    is_partial = expected.is_stdout_cut or runs[0].is_stdout_cut
    return replace(compare_outputs(expected.stdout, runs[0].stdout), is_partial=is_partial)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
