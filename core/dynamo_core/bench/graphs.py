"""Measure each graph of a recording under each backend, for `dynamo bench --per-graph`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from ..analysis.graphs.program import CONTENTS
from ..model import Place
from ..recording.read import read
from ..shared.quick_dataclass import dataclass
from ..shared.winners import Measurement
from .autotune.rounds import Bench, NotRunnable, decide
from .autotune.tuning import DistinctGraph, distinct_graphs


@dataclass(frozen=True)
class GraphTimes:
    """A distinct graph of the first run: its number there, and the measurements by the name of the backend.

    `problem` says why it could not be measured. `calls` is how often the program called it.
    """

    number: int
    frame: str | None
    place: Place | None
    ops: int | None
    calls: int | None
    problem: str | None = None
    measurements: Mapping[str, Measurement] = field(default_factory=dict)

    @property
    def fastest(self) -> str | None:
        """The backend that autotune would choose; None where the rounds do not decide."""
        winner = decide(list(self.measurements.values())).winner
        return next((name for name, each in self.measurements.items() if each.candidate == winner), None)


_TIME_LIMIT = 120.0  # seconds for compiling and checking a graph, as in `dynamo autotune`


def measure_graphs(
    recording: Path,
    candidates: Mapping[str, str],
    *,
    python: str,
    import_path: Sequence[str],
    time_limit: float | None,
    tell: Callable[[str], None],
) -> Iterator[GraphTimes]:
    """The times of the distinct graphs, one after another. `candidates` are the backends by their names."""
    graphs = distinct_graphs(read(recording, CONTENTS))
    limit = _TIME_LIMIT if time_limit is None else time_limit
    with Bench(python=python, import_path=import_path, time_limit=limit) as bench:
        bench.surroundings()
        for number, graph in enumerate(graphs, start=1):
            tell(f"graph {number} of {len(graphs)}")
            yield _measure(graph, candidates, bench)


def _measure(graph: DistinctGraph, candidates: Mapping[str, str], bench: Bench) -> GraphTimes:
    first = graph.first
    known = (first.number, first.frame_name, first.frame_place, first.ops, graph.calls)
    program = graph.to_tune.program
    if program is None:
        return GraphTimes(*known, problem=graph.to_tune.problem)
    try:
        measured = bench.measure(program, list(candidates.values()))
    except NotRunnable as error:
        return GraphTimes(*known, problem=str(error))
    return GraphTimes(*known, measurements=dict(zip(candidates, measured, strict=True)))
