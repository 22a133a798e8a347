"""What a program was in the middle of when its recording ends: a compile, or a call of a compiled graph."""

from collections.abc import Iterator

from ..model import Compiling, Graph, Process, Recording
from .words import compile_label, frame_name, graph_frame, number, place, process_title, seconds, time_of_day


def in_progress_lines(recording: Recording) -> list[str]:
    """A line for each compile and each call that began and did not end, or was interrupted."""
    return [line for process in recording.processes for line in _lines(process, recording)]


def _lines(process: Process, recording: Recording) -> Iterator[str]:
    where = process_title(process, recording)
    for compiling in process.interrupted:
        by = f"interrupted by {compiling.interrupted_by}"
        yield f"{_compiling(compiling, compiling.interrupted_ns)}, {by}{where}"
    if process.end is not None:
        return
    ended_ns = recording.run.ended_ns if recording.run else None
    for compiling in process.compiling:
        yield _compiling(compiling, ended_ns) + where
    for graph in process.graphs:
        for times, what in ((graph.times, "running"), (graph.backward, "running its backward")):
            if times is not None and times.running_since_ns is not None:
                since = _since(times.running_since_ns, ended_ns, is_exact=times.is_running_since_exact)
                before = f"after {number(times.calls, 'call')}" if times.calls else "its first call"
                yield f"{what} {_graph(graph)} {since}, {before}{where}"


def compiling_words(compiling: Compiling) -> str:
    """Which frame, and who has it."""
    who = "its backward" if compiling.is_backward else "traced by Dynamo"
    if compiling.backend is not None:
        ops = "" if compiling.ops is None else f", {number(compiling.ops, 'op')}"
        who = f"graph {compiling.graph}{ops}, in backend {compiling.backend}"
    label = compile_label(compiling.compile_id)
    return f"{frame_name(compiling.name)} at {place(compiling.place)} {label}: {who}"


def _compiling(compiling: Compiling, ended_ns: int | None) -> str:
    since = _since(compiling.backend_ns or compiling.began_ns, ended_ns)
    line = f"compiling {compiling_words(compiling)} {since}"
    if compiling.backend_ns is not None and ended_ns is not None:
        line += f" ({seconds((ended_ns - compiling.began_ns) / 1e9)} in all)"
    return line


def _graph(graph: Graph) -> str:
    label = compile_label(graph.compile_id)
    return f"graph {graph.number} {label} of {graph_frame(graph)} at {place(graph.frame_place)}"


def _since(began_ns: int, ended_ns: int | None, *, is_exact: bool = True) -> str:
    """`began_ns` is the earliest moment at which it can have begun, if not the exact one."""
    if ended_ns is None:  # it may go on still
        at_earliest = "" if is_exact else " at the earliest"
        return f"since {time_of_day(began_ns)}{at_earliest}"
    return f"for {'' if is_exact else 'at most '}{seconds(max(0, ended_ns - began_ns) / 1e9)}"
