"""How long two runs took; changed is only what lies beyond the spread that the repeats in each run have."""

from collections.abc import Iterator, Mapping

from ..analysis.summary import summarize
from ..analysis.time.steps import Steps, find_steps
from ..model import Recording, function_of
from .difference import Condition, Time, TimeVerdict

STEP, COMPILING, IN_GRAPHS = "a steady step", "compiling", "in compiled graphs"
_LEAST_REPEATS = 4  # on each side; the spread of fewer says little
# Beyond the spread, and by so much: what a machine does besides is not the same in two runs.
_LEAST_CHANGE = 1.05
_ONCE = "it is known once on each side, without a spread"
# Under which a time says nothing of the program.
_OF_THE_MACHINE = ("torch", "Python", "devices", "CUDA build", "HIP build")


def times(
    before: Recording, after: Recording, renames: Mapping[str, str], differing: tuple[Condition, ...]
) -> tuple[Time, ...]:
    """The times of both runs, as far as they were recorded on either side."""
    other_machine = [condition.name for condition in differing if condition.name in _OF_THE_MACHINE]
    was, now = summarize(before), summarize(after)
    found = [*_steps(before, after, renames, other_machine)]
    for name, one, other in (
        (COMPILING, was.compile_time_s, now.compile_time_s),
        (IN_GRAPHS, was.graph_host_seconds, now.graph_host_seconds),
    ):
        if one is not None or other is not None:
            found.append(Time(name, one, other, None, None, "not comparable", _ONCE))
    return tuple(found)


def _steps(
    before: Recording, after: Recording, renames: Mapping[str, str], other_machine: list[str]
) -> Iterator[Time]:
    was, now = _of_the_process_with_most(before), _of_the_process_with_most(after)
    if was is None and now is None:
        return
    verdict: TimeVerdict = "not comparable"
    if was is None or now is None:
        why = f"no step repeats {'before' if was is None else 'after'}"
    elif renames.get(name := _function(was), name) != _function(now):
        why = f"a step is another function: {_function(was)} before, {_function(now)} after"
    elif other_machine:
        why = f"not the same: {', '.join(other_machine)}"
    elif min(len(was.blocks), len(now.blocks)) < _LEAST_REPEATS:
        why = "too few repeats"
    else:
        verdict, why = _compared(was, now)
    yield Time(
        STEP,
        None if was is None else was.median,
        None if now is None else now.median,
        None if was is None else was.spread,
        None if now is None else now.spread,
        verdict,
        why,
    )


def _compared(was: Steps, now: Steps) -> tuple[TimeVerdict, str]:
    (fastest, slowest), (now_fastest, now_slowest) = was.spread, now.spread
    if now_fastest > slowest and now.median > _LEAST_CHANGE * was.median:
        return "longer", f"{now.median / was.median:.2f} times as long"
    if now_slowest < fastest and was.median > _LEAST_CHANGE * now.median:
        return "shorter", f"{was.median / now.median:.2f} times as fast"
    return "within the spread", "the two differ by no more than repeats within a run do"


def _of_the_process_with_most(recording: Recording) -> Steps | None:
    """The steps of the process that made the most of them."""
    found = [steps for process in recording.processes if (steps := find_steps(process)) is not None]
    return max(found, key=lambda steps: steps.steady, default=None)


def _function(steps: Steps) -> str:
    return function_of(steps.graph.frame_name)
