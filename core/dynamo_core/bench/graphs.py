"""Each graph of a recording under each backend, for `dynamo bench --per-graph`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ..analysis.graphs.generated_program import CONTENTS
from ..autotune.distinct_graphs import DistinctGraph, distinct_graphs
from ..autotune.rounds import Bench, NotRunnable
from ..recording.read import read
from .graph_times import GraphTimes

_TIME_LIMIT = 120.0  # seconds for compiling and checking a graph, as `dynamo autotune` has it


def measure_graphs(
    recording: Path,
    candidates: Mapping[str, str],
    *,
    python: str,
    import_path: Sequence[str],
    time_limit: float | None,
    tell: Callable[[str], None],
) -> Iterator[GraphTimes]:
    """The times of one distinct graph after another. `candidates` are the backends by their names."""
    graphs = distinct_graphs(read(recording, CONTENTS))
    limit = _TIME_LIMIT if time_limit is None else time_limit
    with Bench(python=python, import_path=import_path, time_limit=limit) as bench:
        bench.surroundings()
        for number, graph in enumerate(graphs, start=1):
            tell(f"graph {number} of {len(graphs)}")
            yield _measured(graph, candidates, bench)


def _measured(graph: DistinctGraph, candidates: Mapping[str, str], bench: Bench) -> GraphTimes:
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
