"""The tables of `dynamo explain`: counts, ranks, compile time and graphs."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dynamo_core.analysis.graphs.cuda_graphs import cuda_graphs_of
from dynamo_core.analysis.memory import growth_text, peaks, peaks_text
from dynamo_core.analysis.source_lines import UserCallSites
from dynamo_core.analysis.summary import Summary
from dynamo_core.analysis.time.compiles import avoidable_seconds, phases_of
from dynamo_core.analysis.time.steps import steady_mean
from dynamo_core.analysis.verdict import compiled_anything, counted_together
from dynamo_core.analysis.words import (
    cache_name,
    compile_label,
    count_text,
    frame_name,
    graph_frame,
    number,
    place,
    process_title,
    seconds,
    seconds_in_calls,
)
from dynamo_core.case import Case
from dynamo_core.model import Compile, Graph, Process, Recording

from ..documents import shares_of
from ..page.blocks import Block, Bullets, Heading, Paragraph, Table, bar, rest, table
from ..parts.backends import backend_text

_ONLY_IF_ANY = ("whole-graph frames", "frames left eager by dynamo run")
_ROWS_SHOWN = 10
_PROCESSES_SHOWN = 100  # of a recording that has more, the page shows the first


def counts_blocks(case: Case) -> Iterator[Block]:
    """What torch counts, over all processes."""
    together = counted_together(case.recording)
    yield Heading(f"Counts, {together}" if together else "Counts")
    yield table(
        "|>", [[name, "not recorded" if value is None else value] for name, value in count_rows(case)]
    )


def _memory_rows(recording: Recording) -> Iterator[tuple[str, str]]:
    """What was recorded of the memory; without a row where that was not."""
    found = peaks(recording.processes)
    if found:
        several = " of a process" if len(recording.processes) > 1 else ""
        yield f"peak memory{several}", peaks_text(found)
    for process in recording.processes[:_PROCESSES_SHOWN]:
        if process.profiling.window is not None and process.profiling.window.memory:
            title = f"memory growth in a step{process_title(process, recording)}"
            yield title, growth_text(process.profiling.window.memory)


def _ranks_or_processes(processes: Sequence[Process]) -> tuple[str, int]:
    """How many there are: ranks, where no other process compiled anything, as their launcher does not."""
    found = [each.rank for each in processes if each.rank is not None or compiled_anything(each)]
    are_ranks = len(found) == len({*found} - {None}) > 1
    return ("ranks", len(found)) if are_ranks else ("processes", len(processes))


def count_rows(case: Case) -> list[tuple[str, str | None]]:
    """What is counted, and how many; None for what was not recorded."""
    recording, summary = case.recording, case.summary
    rows: list[tuple[str, int | str | None]] = [
        _ranks_or_processes(recording.processes),
        ("frames traced", _of(summary.frames_compiled, summary.frames, "ok, as torch counts")),
        ("whole-graph frames", summary.whole_graph_frames or None),
        ("frames that fell back to eager", summary.frames_fell_back),
        ("frames left eager by dynamo run", summary.frames_left_eager or None),
        ("graphs", summary.graphs),
        ("ops", summary.ops),
        ("graph calls", summary.graph_calls),
        *_time_in_graphs(recording, summary),
        ("graph breaks", _of(summary.distinct_graph_breaks, summary.graph_breaks, "distinct")),
        ("recompiles", summary.recompiles),
        ("guards", summary.guards),
        ("compile time", seconds(summary.compile_time_s)),
        *_memory_rows(case.recording),
    ]
    return [
        (name, None if value is None else str(value))
        for name, value in rows
        if value is not None or name not in _ONLY_IF_ANY
    ]


def _time_in_graphs(recording: Recording, summary: Summary) -> Iterator[tuple[str, str]]:
    """The time in all calls, and how much of it is backward where a backward graph was called."""
    graphs = [graph for process in recording.processes for graph in process.graphs]
    backward = [graph.backward for graph in graphs if graph.backward is not None]
    called = (*(graph.times for graph in graphs), *backward)
    yield "time in graphs (host)", seconds_in_calls(summary.graph_host_seconds, *called)
    if summary.graph_host_seconds is not None and backward:
        spent = sum(times.seconds for times in backward)
        yield "  of it backward", seconds_in_calls(spent, *backward)


def _of(part: int | None, whole: int | None, what: str) -> str | None:
    if part is None or whole is None:
        return None
    return str(whole) if part == whole else f"{whole} ({part} {what})"


def ranks_blocks(case: Case) -> Iterator[Block]:
    """The counts of each rank, where there are several, and in what they differ."""
    ranked = sorted((p for p in case.processes if p.rank is not None), key=lambda p: p.rank or 0)
    if len(ranked) < 2:
        return
    headings = ("graphs", "ops", "breaks", "recompiles", "guards", "compile time")
    rows = []
    for process in ranked:
        own = case.alone(process).summary
        counts = (own.graphs, own.ops, own.graph_breaks, own.recompiles, own.guards)
        rows.append([str(process.rank), *map(count_text, counts), seconds(own.compile_time_s)])
    yield Heading("Ranks")
    yield table("rank>|" + "|".join(f"{heading}>" for heading in headings), rows[:_PROCESSES_SHOWN])
    yield from rest(len(rows) - _PROCESSES_SHOWN, "rank", "; --rank N shows one")
    columns = {heading: {row[at] for row in rows} for at, heading in enumerate(headings[:-1], 1)}
    missing = "not recorded"
    differ = [heading for heading, values in columns.items() if len(values - {missing}) > 1]
    unknown = [heading for heading, values in columns.items() if missing in values]
    agree = [heading for heading in columns if heading not in (*differ, *unknown)]
    if differ:
        yield Paragraph(f"The ranks differ in: {', '.join(differ)}.", "warning")
    if agree:
        more = "`dynamo ranks` compares their order, the graphs and the collectives in them"
        yield Paragraph(f"The ranks agree in the number of: {', '.join(agree)}; {more}.")
    if unknown:
        yield Paragraph(f"Not recorded for every rank: {', '.join(unknown)}.")


def compile_time_blocks(case: Case) -> Iterator[Block]:
    """Where compile time went: by phase, what of it was avoidable, and the costliest compiles."""
    recording = case.recording
    with_process = [(compile_, process) for process in case.processes for compile_ in process.compiles]
    compiles = [compile_ for compile_, _ in with_process]
    if not compiles:
        return
    phases = phases_of(compiles)
    total = sum(phase.seconds for phase in phases)
    yield Heading("Where compile time went")
    if total:
        shares = shares_of([phase.seconds for phase in phases], total, digits=0)
        yield table(
            "phase|time>|share>|",
            [
                [phase.name, seconds(phase.seconds), share, bar(phase.seconds, total)]
                for phase, share in zip(phases, shares, strict=True)
            ],
        )
    avoidable = avoidable_seconds(recording)
    notes = [
        f"{seconds(value)} {what}"
        for value, what in (
            (avoidable.recompiles, "of it in recompiles"),
            (avoidable.restarted, "of it before tracing restarted"),
            (avoidable.failed, "of it in compiles that failed"),
        )
        if value
    ]
    lookups = Counter(
        (lookup.cache, lookup.outcome)
        for process in recording.processes
        for lookup in process.caching.lookups
    )
    for cache in dict.fromkeys(cache for cache, _ in lookups):
        outcomes = [
            number(lookups[cache, outcome], outcome, plural)
            for outcome, plural in (("hit", "hits"), ("miss", "misses"), ("bypass", "bypassed"))
            if lookups[cache, outcome]
        ]
        notes.append(f"{cache_name(cache)}: {', '.join(outcomes)}")
    yield Bullets(notes)
    costliest = sorted(with_process, key=lambda pair: -(pair[0].seconds or 0))
    if len(compiles) > 1:
        yield _compiles(costliest[:_ROWS_SHOWN], recording)
        yield from rest(len(compiles) - _ROWS_SHOWN, "compile", "; --format json has all")


def _compiles(compiles: list[tuple[Compile, Process]], recording: Recording) -> Table:
    rows = []
    for compile_, process in compiles:
        where = process_title(process, recording)
        hits, misses = compile_.cache_hits, compile_.cache_misses
        asked = None if hits is None or misses is None else hits + misses
        cached = "not recorded" if asked is None else f"{hits} of {asked}" if asked else "-"
        backward = "" if compile_.is_forward else " backward"
        rows.append(
            [
                compile_label(compile_.compile_id) + backward,
                seconds(compile_.seconds),
                cached,
                f"{frame_name(compile_.name, compile_.method)} {place(compile_.place)}{where}"
                if compile_.place
                else where,
            ]
        )
    return table("costliest|took>|caches hit>|of", rows)


def graphs_blocks(case: Case) -> Iterator[Block]:
    """The costliest graphs of each process."""
    with_graphs = [process for process in case.processes if process.compiled_graphs]
    for process in with_graphs[:_PROCESSES_SHOWN]:
        graphs = process.compiled_graphs
        yield Heading(f"Graphs{process_title(process, case.recording)}")
        costliest = sorted(graphs, key=lambda graph: -(graph.host_seconds or 0))
        yield _graph_table(process, costliest[:_ROWS_SHOWN])
        yield from rest(len(graphs) - _ROWS_SHOWN, "graph", "; `dynamo graphs` shows all")
    yield from rest(len(with_graphs) - _PROCESSES_SHOWN, "stream", "; `dynamo graphs` shows all")


def _graph_table(process: Process, graphs: list[Graph]) -> Table:
    user_call_sites = UserCallSites(process)
    if all(graph.calls is None and graph.backend is None for graph in graphs):
        return table("graph>|ops>|from", [_graph_cells(graph, user_call_sites) for graph in graphs])
    rows = []
    uses = cuda_graphs_of(process)
    for graph in graphs:
        number_and_id, ops, origin = _graph_cells(graph, user_call_sites)
        spent = seconds_in_calls(graph.host_seconds, graph.times)
        called = [count_text(graph.calls), spent, _a_later_call(graph), backend_text(graph)]
        if uses:
            use = uses.get(graph.compile_id)
            called.append("-" if use is None else use.in_short)
        rows.append([number_and_id, ops, *called, origin])
    host_time = "forward (host)" if any(graph.backward for graph in graphs) else "host time"
    cuda_graphs = "CUDA graphs|" if uses else ""
    return table(f"graph>|ops>|calls>|{host_time}>|a later call>|backend|{cuda_graphs}from", rows)


def _a_later_call(graph: Graph) -> str:
    """The mean without the first call, which may load, record or tune what later ones only use."""
    if graph.calls == 0:
        return "running" if graph.is_running else "never called"
    if graph.calls == 1:
        return "called once"
    return seconds(None if graph.times is None else steady_mean(graph.times))


def _graph_cells(graph: Graph, user_call_sites: UserCallSites) -> list[str]:
    call = user_call_sites.of(graph.compile_id, graph.frame_place)
    where = place(graph.frame_place) if call is None else f"called at {place(call.place)}"
    return [
        f"{graph.number} {compile_label(graph.compile_id)}",
        count_text(graph.ops),
        f"{graph_frame(graph)} {where}",
    ]
