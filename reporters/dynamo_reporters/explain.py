"""`dynamo explain`: one page, from the verdict down to what could not be seen."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dynamo_core.model import Compile, Graph, Process, Recording
from dynamo_core.summary import Summary, fell_back, summarize

from .breaks import render_break
from .detail import Detail
from .end_of_run import distinct_breaks
from .recompiles import render_recompile
from .text import compile_label, frame_name, place, seconds
from .verdict import capture_sentence, ending, verdict

_ROWS_SHOWN = 20


def render_explain(recording: Recording) -> Iterator[RenderableType]:
    """The page, top to bottom."""
    summary = summarize(recording)
    yield Text(verdict(recording, summary), style="bold")
    if recording.run is not None:
        command = " ".join(recording.run.get("command") or [])
        yield Text(f"{command} {ending(recording.run)}.")
    if recording.processes:
        yield Text(capture_sentence(recording))
        yield from _section("Counts", _counts(summary))
    for process in recording.processes:
        where = f" of process {process.info.get('pid')}" if len(recording.processes) > 1 else ""
        if process.compiled_graphs:
            yield from _section(f"Graphs{where}", _graphs(process.compiled_graphs))
        if process.compiles:
            yield from _section(f"Compile time{where}", _compiles(process.compiles))
    yield from _breaks(recording)
    yield from _recompiles(recording)
    yield from _fallbacks(recording)
    yield from _problems(recording)


def _section(title: str, *content: RenderableType) -> Iterator[RenderableType]:
    yield Text()
    yield Text(title, style="bold underline")
    for part in content:
        yield Padding(part, (0, 0, 0, 2), expand=False)


def _counts(summary: Summary) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right", overflow="fold")
    rows = [
        ("processes", summary.processes),
        ("frames", _of(summary.frames_compiled, summary.frames, "taken by Dynamo")),
        ("whole-graph frames", summary.whole_graph_frames or None),
        ("frames that fell back to eager", summary.frames_fell_back),
        ("graphs", summary.graphs),
        ("ops", summary.ops),
        ("graph calls", summary.graph_calls),
        ("time in graphs (host)", seconds(summary.graph_host_seconds)),
        ("graph breaks", _of(summary.distinct_graph_breaks, summary.graph_breaks, "distinct")),
        ("recompiles", summary.recompiles),
        ("guards", summary.guards),
        ("compile time", seconds(summary.compile_time_s)),
    ]
    for name, value in rows:
        if name == "whole-graph frames" and value is None:
            continue
        table.add_row(name, "not recorded" if value is None else str(value))
    return table


def _of(part: int | None, whole: int | None, what: str) -> str | None:
    if part is None or whole is None:
        return None
    return str(whole) if part == whole else f"{whole} ({part} {what})"


def _graphs(graphs: list[Graph]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for heading in ("graph", "ops", "calls", "host time", "a call", "backend"):
        table.add_column(heading, justify="right" if heading != "backend" else "left")
    table.add_column("from", overflow="fold")
    shown = sorted(graphs, key=lambda graph: -(graph.host_seconds or 0))[:_ROWS_SHOWN]
    for graph in shown:
        mean = graph.host_seconds / graph.calls if graph.calls and graph.host_seconds else None
        table.add_row(
            f"{graph.number} {compile_label(graph.compile_id)}",
            _or_missing(graph.ops),
            _or_missing(graph.calls),
            seconds(graph.host_seconds),
            seconds(mean) if graph.calls != 0 else "never called",
            (graph.backend or "not recorded"),
            f"{frame_name(graph.frame_name)} {place(graph.frame_place)}",
        )
    return _with_rest(table, len(graphs) - len(shown))


def _compiles(compiles: list[Compile]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    table.add_column("compile")
    for heading in ("took", "in backend", "in inductor", "caches hit"):
        table.add_column(heading, justify="right")
    table.add_column("of", overflow="fold")
    shown = sorted(compiles, key=lambda c: -(c.seconds or 0))[:_ROWS_SHOWN]
    for compile_ in shown:
        hits, misses = compile_.cache_hits, compile_.cache_misses
        asked = None if hits is None or misses is None else hits + misses
        cached = "not recorded" if asked is None else f"{hits} of {asked}" if asked else "-"
        phases = compile_.phases
        table.add_row(
            compile_label(compile_.compile_id) + ("" if compile_.is_forward else " backward"),
            seconds(compile_.seconds),
            seconds(phases["backend"]) if "backend" in phases else "-",
            seconds(phases["inductor"]) if "inductor" in phases else "-",
            cached,
            f"{frame_name(compile_.name)} {place(compile_.place)}" if compile_.place else "",
        )
    return _with_rest(table, len(compiles) - len(shown))


def _with_rest(table: Table, rest: int) -> RenderableType:
    if rest > 0:
        table.add_row(f"… and {rest} more")
    return table


def _or_missing(value: int | None) -> str:
    return "not recorded" if value is None else f"{value:,}"


def _breaks(recording: Recording) -> Iterator[RenderableType]:
    found = distinct_breaks(recording)
    if found:
        shown = [render_break(b, Detail.NORMAL, times) for b, times in found[:_ROWS_SHOWN]]
        yield from _section("Graph breaks, most frequent first", *shown)


def _recompiles(recording: Recording) -> Iterator[RenderableType]:
    found = [compile_ for process in recording.processes for compile_ in process.recompiles]
    if found:
        shown = [render_recompile(compile_, Detail.NORMAL) for compile_ in found[:_ROWS_SHOWN]]
        rest = len(found) - len(shown)
        yield from _section("Recompiles, in order", *shown, *([Text(f"… and {rest} more")] if rest else []))


def _fallbacks(recording: Recording) -> Iterator[RenderableType]:
    lines = [
        Text(
            f"{frame_name(frame.name)} {place(frame.place)}: "
            f"{((frame.reason or 'no reason recorded').partition(chr(10))[0])}"
        )
        for process in recording.processes
        for frame in process.frames
        if fell_back(frame)
    ]
    if lines:
        yield from _section("Frames that fell back to eager", *lines)


def _problems(recording: Recording) -> Iterator[RenderableType]:
    notes = list((recording.run or {}).get("notes") or [])
    problems = [*notes, *recording.problems, *disagreements(recording.processes)]
    if problems:
        yield from _section("What could not be seen", *[Text(p) for p in problems])


def disagreements(processes: list[Process]) -> list[str]:
    """Where our counts differ from torch's own at the process's end; there should be none."""
    found = []
    for process in processes:
        totals = (process.end or {}).get("torch_totals")
        if not totals:
            continue
        ours = {
            "unique_graphs": len(process.compiled_graphs),
            "frames_total": len(process.counted_frames),
            "frames_ok": sum(frame.ok for frame in process.counted_frames),
            "graph_break_reasons": len(process.breaks),
        }
        where = f"process {process.info.get('pid')}"
        for name, count in ours.items():
            torchs = totals.get(name, count)
            if torchs < count:
                found.append(f"{where}: torch's own count of {name} was reset by the program")
            elif torchs > count:
                found.append(f"{where}: torch counts {torchs} {name}, the recording has {count}")
    return found
