"""Measure what is not known yet, graph by graph, and keep each result before the next begins."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..shared.backend_choice import parse_choice
from ..shared.quick_dataclass import dataclass
from ..tuned import winners
from ..tuned.conditions import Conditions, device_words
from ..tuned.winners import Tuned
from .decision import decide
from .rounds import EAGER, Bench, GraphProgram, NotRunnable

# Tried where the user names none, from the simplest.
CANDIDATES = (EAGER, "inductor", "ofi", "inductor:max-autotune")
# The same where there is a GPU.
CANDIDATES_ON_CUDA = (*CANDIDATES, "cudagraphs", "inductor:reduce-overhead")


@dataclass(frozen=True)
class GraphToTune:
    """A distinct graph of a recording. `kinds` are the types of the devices of its inputs, `sizes` the
    classes of its symbolic sizes.

    `program` is None where it could not be written; `problem` says why.
    """

    key: str
    program: GraphProgram | None
    problem: str | None
    sizes: tuple[str, ...]
    kinds: frozenset[str]
    ops: int | None
    from_: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What came of one graph. `tuned` is None where it could not be measured; `problem` says why.

    Where `tuned` has no winner, the rounds did not decide, and it is not in the file: what `stored` has, is.
    `is_new` says whether it was measured now; `host` where, if that was on a cluster.
    """

    graph: GraphToTune
    tuned: Tuned | None
    problem: str | None = None
    is_new: bool = False
    stored: Tuned | None = None
    host: str | None = None


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

    A graph is measured that the file lacks under these conditions, or with one of the candidates, or all with
    `again`: always under all of its candidates, since only what was timed in turn can be compared. Without
    `candidates`, the usual ones for the device are tried.
    """
    here = bench.surroundings()
    for number, graph in enumerate(graphs, start=1):
        if graph.program is None:
            yield Result(graph, None, graph.problem)
            continue

        def tell(what: str, number: int = number) -> None:
            progress(number, len(graphs), what)

        device = device_words(graph.kinds, here.hardware, graph.program.threads)
        conditions = Conditions(device, here.torch, here.settings, graph.sizes)
        stored = winners.find(winners.read_if_there(file), graph.key, conditions)
        asked = candidates or usual_candidates(graph.kinds)
        if stored is not None and not again and _has_all(stored, asked, bench):
            yield Result(graph, stored, stored=stored)
            continue
        wanted = _usable(asked, stored, bench)
        if not wanted:
            yield Result(graph, None, "none of the candidates can be used here")
            continue
        try:
            measured = bench.measure(graph.program, wanted, tell)
        except NotRunnable as error:
            yield Result(graph, None, str(error))
            continue
        tuned = Tuned(
            graph.key,
            conditions,
            decide(measured).winner,
            tuple(measured),
            time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            graph.ops,
            graph.from_,
            graph.inputs,
        )
        winners.store(file, [tuned])
        yield Result(graph, tuned, None, is_new=True, stored=stored)


def usual_candidates(kinds: frozenset[str]) -> tuple[str, ...]:
    """What is tried where the user names nothing, for a graph on devices of these types."""
    return CANDIDATES_ON_CUDA if "cuda" in kinds else CANDIDATES


def _usable(candidates: Sequence[str], stored: Tuned | None, bench: Bench) -> list[str]:
    """What is to be compared, from the simplest: what is asked for, and what was compared before."""
    before = () if stored is None else (each.candidate for each in stored.measurements)
    usable = [each for each in dict.fromkeys([*candidates, *before]) if bench.why_unusable(each) is None]
    return sorted(usable, key=_complexity)


def _has_all(stored: Tuned, candidates: Sequence[str], bench: Bench) -> bool:
    """Whether nothing of what can be used here is missing."""
    have = {each.candidate for each in stored.measurements}
    return all(each in have or bench.why_unusable(each) is not None for each in candidates)


def _complexity(candidate: str) -> int:
    """Eager is the simplest, then backends as they are, then modes of one."""
    choice = parse_choice(candidate)
    if choice.name == EAGER:
        return 0
    return 1 if choice.mode is None else 2
