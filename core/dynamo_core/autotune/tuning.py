"""Measure what is not known yet, graph by graph, and keep each result before the next begins."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..measuring.hardware import device_words
from ..shared.backend_choice import parse_choice
from . import winners
from .measurement import Measurement, winner
from .rounds import EAGER, Bench, GraphProgram, NotRunnable
from .winners import Tuned

# Tried where the user names none, from the simplest.
CANDIDATES = (EAGER, "inductor", "ofi", "inductor:max-autotune")
# The same where there is a GPU.
CANDIDATES_ON_CUDA = (*CANDIDATES, "cudagraphs", "inductor:reduce-overhead")


@dataclass(frozen=True)
class GraphToTune:
    """A distinct graph of a recording. `kinds` are the types of the devices of its inputs.

    `program` is None where it could not be written; `problem` says why.
    """

    key: str
    program: GraphProgram | None
    problem: str | None
    kinds: frozenset[str]
    ops: int | None
    from_: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What came of one graph. `tuned` is None where it could not be measured; `problem` says why.

    `measured` are the candidates that were measured now; the others' measurements are from an earlier time.
    """

    graph: GraphToTune
    tuned: Tuned | None
    problem: str | None = None
    measured: tuple[str, ...] = ()


# What is being done: the graph's number from 1, how many there are, and a few words.
Progress = Callable[[int, int, str], None]


def tune(
    graphs: Sequence[GraphToTune],
    candidates: Sequence[str] | None,
    bench: Bench,
    file: Path,
    *,
    again: bool,
    progress: Progress,
) -> Iterator[Result]:
    """The results, each of which is in the autotune file when it is given.

    With `again`, everything is measured; else what the file lacks for this device and torch. Then the
    candidate that won before is measured once more beside the new ones, so that they are timed in turn.
    Without `candidates`, the usual ones for the device are tried.
    """
    torch, hardware = bench.surroundings()
    for number, graph in enumerate(graphs, start=1):
        if graph.program is None:
            yield Result(graph, None, graph.problem)
            continue

        def tell(what: str, number: int = number) -> None:
            progress(number, len(graphs), what)

        device = device_words(graph.kinds, hardware, graph.program.threads)
        known = None if again else winners.find(winners.read_if_there(file), graph.key, device, torch)
        wanted = _wanted(candidates or usual_candidates(graph.kinds), known, bench)
        if not wanted:
            yield Result(graph, known, None if known else "none of the candidates can be used here")
            continue
        try:
            measured = bench.measure(graph.program, wanted, tell)
        except NotRunnable as error:
            yield Result(graph, None, str(error))
            continue
        tuned = replace(
            _merged(known, measured),
            key=graph.key,
            device=device,
            torch=torch,
            ops=graph.ops,
            from_=graph.from_,
            inputs=graph.inputs,
        )
        winners.store(file, tuned)
        yield Result(graph, tuned, None, tuple(each.candidate for each in measured))


def usual_candidates(kinds: frozenset[str]) -> tuple[str, ...]:
    """What is tried where the user names nothing, for a graph on devices of these types."""
    return CANDIDATES_ON_CUDA if "cuda" in kinds else CANDIDATES


def _wanted(candidates: Sequence[str], known: Tuned | None, bench: Bench) -> list[str]:
    """What to measure, from the simplest; nothing if all of it is known."""
    have = set() if known is None else {measurement.candidate for measurement in known.measurements}
    missing = [each for each in candidates if each not in have and bench.why_unusable(each) is None]
    if missing and known is not None and known.winner is not None:
        missing.append(known.winner)
    return sorted(missing, key=_complexity)


def _merged(known: Tuned | None, measured: Sequence[Measurement]) -> Tuned:
    """The entry with what was measured now. Only what was timed in turn is compared."""
    found = {} if known is None else {each.candidate: each for each in known.measurements}
    found.update({each.candidate: each for each in measured})
    in_order = tuple(sorted(found.values(), key=lambda each: _complexity(each.candidate)))
    best = winner(measured) or winner(in_order)
    return Tuned("", "", "", best, in_order, time.strftime("%Y-%m-%dT%H:%M:%S%z"))


def _complexity(candidate: str) -> int:
    """Eager is the simplest, then backends as they are, then modes of one."""
    choice = parse_choice(candidate)
    if choice.name == EAGER:
        return 0
    return 1 if choice.mode is None else 2
