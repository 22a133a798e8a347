"""Graphs that were compiled several times over though they compute the same: repeated blocks of a model."""

from collections.abc import Iterator

from ...model import Graph, Process, Recording
from ...shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class EqualGraphs:
    """Graphs of one process that are equal but for names, and what compiling one of them would have saved.

    `saves_at_most` is an estimate: the backend's time for all of them but the costliest.
    """

    function: str | None
    ops: int | None
    times: int
    backend_seconds: float | None
    saves_at_most: float | None


def equal_graphs(recording: Recording) -> Iterator[EqualGraphs]:
    """Those that were compiled more than once, what costs most first."""
    found = [each for process in recording.processes for each in _of(process)]
    yield from sorted(found, key=lambda each: -(each.saves_at_most or 0.0))


def _of(process: Process) -> Iterator[EqualGraphs]:
    alike: dict[str, list[Graph]] = {}
    for graph in process.compiled_graphs:
        if graph.key is not None:
            alike.setdefault(graph.key, []).append(graph)
    for graphs in alike.values():
        if len(graphs) < 2:
            continue
        costs = [graph.backend_seconds for graph in graphs if graph.backend_seconds is not None]
        yield EqualGraphs(
            graphs[0].frame_name,
            graphs[0].ops,
            len(graphs),
            sum(costs) if costs else None,
            sum(costs) - max(costs) if costs else None,
        )
