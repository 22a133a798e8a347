"""A row for each thing that took time: for spreadsheets and data frames.

Format: RFC 4180, with a header. A cell is empty where a value is unknown or there is none.
"""

import csv
import io
from collections.abc import Iterable
from typing import Any

from dynamo_core.analysis.time.compiles import CompileCost, compile_costs
from dynamo_core.analysis.time.phases import Span, spans
from dynamo_core.analysis.words import frame_name
from dynamo_core.model import CallTimes, CompileId, Graph, Place, Process, Recording

from ...exported import csv_row
from ...report import id_value
from .names import INHERITED, frames_without_phases, process_name
from .tracks import start_up

COLUMNS = (
    "process",
    "kind",
    "name",
    "compile_id",
    "calls",
    "seconds",
    "self_seconds",
    "p50_seconds",
    "p99_seconds",
    "file",
    "line",
)


def to_csv(recording: Recording) -> str:
    """`kind` is one of startup, import, compile, frame, phase, parallel phase, graph, backward.

    A compile's seconds are those of its phases, which have `self_seconds` that add up: sum one or the other.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for process in recording.processes:
        for row in _rows(process):
            writer.writerow(csv_row({"process": process_name(process)} | row))
    return text.getvalue()


def _rows(process: Process) -> Iterable[dict[str, Any]]:
    imports = {f"import {each.module}" for each in process.imports}
    for slice_ in start_up(process):
        kind = "import" if slice_.name in imports else "startup"
        yield _row(kind, slice_.name, seconds=(slice_.end_ns - slice_.begin_ns) / 1e9)
    for cost in compile_costs(process):
        yield from _compile_rows(cost)
    for frame in frames_without_phases(process):
        name, where = frame_name(frame.name, frame.method), frame.place
        yield _row("frame", name, frame.compile_id, where, seconds=frame.seconds)
    for span in spans(process.parallel_phases):
        phase = span.phase
        yield _row("parallel phase", phase.name, phase.compile_id, seconds=span.total_ns / 1e9)
    for graph in process.graphs:
        yield from _graph_rows(graph)
    if process.whole is None:
        for times in process.inherited:
            calls, seconds = times.calls, times.seconds
            yield _row("graph", INHERITED, calls=calls, seconds=seconds, **_percentiles(times))


def _compile_rows(cost: CompileCost) -> Iterable[dict[str, Any]]:
    backward = "backward of " if cost.is_backward else ""
    name = backward + frame_name(cost.name)
    yield _row("compile", name, cost.compile_id, cost.place, seconds=cost.seconds)
    for phase, spans_of_it in _by_name(cost.trees).items():
        yield _row(
            "phase",
            f"{backward}{phase}",
            cost.compile_id,
            cost.place,
            calls=len(spans_of_it),
            seconds=sum(span.total_ns for span, is_outermost in spans_of_it if is_outermost) / 1e9,
            self_seconds=sum(span.own_ns for span, _ in spans_of_it) / 1e9,
        )


def _by_name(trees: Iterable[Span]) -> dict[str, list[tuple[Span, bool]]]:
    """The phases of each name, and whether each is in no other of its name: that one's time has its own."""
    found: dict[str, list[tuple[Span, bool]]] = {}

    def visit(span: Span, around: frozenset[str]) -> None:
        name = span.phase.name
        found.setdefault(name, []).append((span, name not in around))
        for child in span.children:
            visit(child, around | {name})

    for tree in trees:
        visit(tree, frozenset())
    return found


def _graph_rows(graph: Graph) -> Iterable[dict[str, Any]]:
    name = f"graph {graph.number}"
    yield _row(
        "graph",
        name,
        graph.compile_id,
        graph.frame_place,
        calls=graph.calls,
        seconds=graph.host_seconds,
        **_percentiles(graph.times),
    )
    if graph.backward is not None:
        yield _row(
            "backward",
            f"backward of {name}",
            graph.compile_id,
            graph.frame_place,
            calls=graph.backward.calls,
            seconds=graph.backward.seconds,
            **_percentiles(graph.backward),
        )


def _percentiles(times: CallTimes | None) -> dict[str, Any]:
    return (
        {} if times is None else {"p50_seconds": times.percentile(0.5), "p99_seconds": times.percentile(0.99)}
    )


def _row(
    kind: str, name: str, compile_id: CompileId | None = None, place: Place | None = None, **numbers: Any
) -> dict[str, Any]:
    where = {} if place is None else {"file": place.file, "line": place.line}
    return {"kind": kind, "name": name, "compile_id": id_value(compile_id), **numbers, **where}
