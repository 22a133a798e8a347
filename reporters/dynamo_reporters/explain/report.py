"""`dynamo explain`: one page, from the verdict down to what could not be seen."""

import shlex
from collections import Counter
from collections.abc import Iterator

from dynamo_core.analysis.ranks.members import newest_launch, ranks_of
from dynamo_core.analysis.source_lines import UserCallSites
from dynamo_core.analysis.summary import Summary, disagreements, summarize
from dynamo_core.analysis.time.compiles import avoidable_seconds, phases_of
from dynamo_core.analysis.time.steps import steady_mean
from dynamo_core.analysis.verdict import (
    counted_together,
    ending,
    in_progress_lines,
    origin_sentence,
    stopped_lines,
    verdict,
    versions,
)
from dynamo_core.analysis.words import (
    cache_name,
    compile_label,
    frame_name,
    graph_frame,
    number,
    place,
    process_title,
    seconds,
    seconds_in_calls,
)
from dynamo_core.case import Case
from dynamo_core.findings import CONTENTS as FINDINGS
from dynamo_core.model import Compile, Graph, Process, Recording
from dynamo_core.recording.training import AOT_PAIRS_FROM_OUR_TEXT

from ..documents import shares_of
from ..page.blocks import Block, Bullets, Heading, Paragraph, Table, bar, table
from ..parts.after_freeze import after_freeze
from ..parts.backends import backend_text, backends_section, verified_blocks
from ..parts.sections import findings_section, other_ranks_blocks
from ..parts.training import training_section
from ..report import Report
from .document import explained_of
from .sections import deferred_lines, override_lines, semantics_section

_ROWS_SHOWN = 10
_PROBLEMS_SHOWN = 100
_PROCESSES_SHOWN = 100  # of a recording that has more, the page shows the first


def report() -> Report[Case]:
    """The report of `dynamo explain`."""
    return Report("explain", _page, explained_of, frozenset({AOT_PAIRS_FROM_OUR_TEXT}) | FINDINGS)


def _page(case: Case) -> Iterator[Block]:
    recording, summary = case.recording, case.summary
    yield Heading(verdict(recording, summary), 1)
    if recording.run is not None:
        command = shlex.join(recording.run.command or [])
        yield Paragraph(f"{command} {ending(recording.run)}. Recorded in {recording.path}.")
    if recording.processes:
        yield Paragraph(_circumstances(recording))
        yield from _several_launches(recording)
        yield from _listed("Not finished", in_progress_lines(recording) + stopped_lines(recording))
        yield from other_ranks_blocks(case.recording)
        yield from findings_section(case.findings, can_run_again=recording.run is not None)
        yield from _listed("Left eager, for what capturing would cost", deferred_lines(recording))
        yield from _asked_for(recording)
        together = counted_together(recording)
        yield Heading(f"Counts, {together}" if together else "Counts")
        yield _counts(recording, summary)
        yield from backends_section(recording)
    yield from _ranks(recording)
    yield from _compile_time(recording)
    yield from _graphs(recording)
    yield from training_section(recording)
    yield from _problems(recording)
    yield from _next(recording, summary)


def _several_launches(recording: Recording) -> Iterator[Block]:
    others = newest_launch(recording).left_out
    if others:
        yield Paragraph(
            f"The counts below are of several launches: of the last, and of {'; '.join(others)}. `dynamo "
            "ranks` compares the last; --restart N and --rank N pick out a part."
        )


def _circumstances(recording: Recording) -> str:
    """How it was captured, and by which torch and Python, on what."""
    text, about = origin_sentence(recording), versions(recording)
    return f"{text} {about}." if about else text


def _listed(title: str, lines: list[str]) -> Iterator[Block]:
    if lines:
        yield Heading(title)
        yield Bullets(lines[:_ROWS_SHOWN])
        yield from _rest(len(lines) - _ROWS_SHOWN, "such frame", "--format json has all")


def _asked_for(recording: Recording) -> Iterator[Block]:
    """What was done because --freeze-after, --override, --config or --verify said so."""
    yield from after_freeze(recording)
    overrides = override_lines(recording)
    if overrides:
        yield Heading("Overrides")
        yield Bullets(overrides)
    yield from verified_blocks(recording)
    yield from semantics_section(recording)


def _counts(recording: Recording, summary: Summary) -> Table:
    called = (graph.times for process in recording.processes for graph in process.graphs)
    rows = [
        ("processes", summary.processes),
        ("frames that Dynamo looked at", _of(summary.frames_compiled, summary.frames, "ok, as torch counts")),
        ("whole-graph frames", summary.whole_graph_frames or None),
        ("frames that fell back to eager", summary.frames_fell_back),
        ("graphs", summary.graphs),
        ("ops", summary.ops),
        ("graph calls", summary.graph_calls),
        ("time in graphs (host)", seconds_in_calls(summary.graph_host_seconds, *called)),
        ("graph breaks", _of(summary.distinct_graph_breaks, summary.graph_breaks, "distinct")),
        ("recompiles", summary.recompiles),
        ("guards", summary.guards),
        ("compile time", seconds(summary.compile_time_s)),
    ]
    return table(
        "|>",
        [
            [name, "not recorded" if value is None else str(value)]
            for name, value in rows
            if name != "whole-graph frames" or value is not None
        ],
    )


def _of(part: int | None, whole: int | None, what: str) -> str | None:
    if part is None or whole is None:
        return None
    return str(whole) if part == whole else f"{whole} ({part} {what})"


def _ranks(recording: Recording) -> Iterator[Block]:
    """The counts of each rank, where there are several, and in what they differ."""
    ranked = sorted((p for p in recording.processes if p.rank is not None), key=lambda p: p.rank or 0)
    if len(ranked) < 2:
        return
    headings = ("graphs", "ops", "breaks", "recompiles", "guards", "compile time")
    rows = []
    for process in ranked:
        own = summarize(Recording(recording.path, None, [process], None, []))
        counts = (own.graphs, own.ops, own.graph_breaks, own.recompiles, own.guards)
        rows.append([str(process.rank), *map(_or_missing, counts), seconds(own.compile_time_s)])
    yield Heading("Ranks")
    yield table("rank>|" + "|".join(f"{heading}>" for heading in headings), rows[:_PROCESSES_SHOWN])
    yield from _rest(len(rows) - _PROCESSES_SHOWN, "rank", "--rank N shows one")
    columns = {heading: {row[at] for row in rows} for at, heading in enumerate(headings[:-1], 1)}
    missing = _or_missing(None)
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


def _compile_time(recording: Recording) -> Iterator[Block]:
    of = [(compile_, process) for process in recording.processes for compile_ in process.compiles]
    compiles = [compile_ for compile_, _ in of]
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
            (avoidable.restarted, "of it in analysis that began again"),
            (avoidable.failed, "of it in compiles that failed"),
        )
        if value
    ]
    lookups = Counter(
        (lookup.cache, lookup.outcome) for process in recording.processes for lookup in process.cache_lookups
    )
    for cache in dict.fromkeys(cache for cache, _ in lookups):
        told = [
            number(lookups[cache, outcome], outcome, plural)
            for outcome, plural in (("hit", "hits"), ("miss", "misses"), ("bypass", "bypassed"))
            if lookups[cache, outcome]
        ]
        notes.append(f"{cache_name(cache)}: {', '.join(told)}")
    if notes:
        yield Bullets(notes)
    costliest = sorted(of, key=lambda pair: -(pair[0].seconds or 0))
    if len(compiles) > 1:
        yield _compiles(costliest[:_ROWS_SHOWN], recording)
        yield from _rest(len(compiles) - _ROWS_SHOWN, "compile", "--format json has all")


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


def _graphs(recording: Recording) -> Iterator[Block]:
    with_graphs = [process for process in recording.processes if process.compiled_graphs]
    for process in with_graphs[:_PROCESSES_SHOWN]:
        graphs = process.compiled_graphs
        yield Heading(f"Graphs{process_title(process, recording)}")
        costliest = sorted(graphs, key=lambda graph: -(graph.host_seconds or 0))
        yield _graph_table(process, costliest[:_ROWS_SHOWN])
        yield from _rest(len(graphs) - _ROWS_SHOWN, "graph", "`dynamo graphs` shows all")
    yield from _rest(len(with_graphs) - _PROCESSES_SHOWN, "stream", "`dynamo graphs` shows all")


def _graph_table(process: Process, graphs: list[Graph]) -> Table:
    user_call_sites = UserCallSites(process)
    if all(graph.calls is None and graph.backend is None for graph in graphs):
        return table("graph>|ops>|from", [_graph_cells(graph, user_call_sites) for graph in graphs])
    rows = []
    for graph in graphs:
        number_and_id, ops, origin = _graph_cells(graph, user_call_sites)
        rows.append(
            [
                number_and_id,
                ops,
                _or_missing(graph.calls),
                seconds_in_calls(graph.host_seconds, graph.times),
                _a_later_call(graph),
                backend_text(graph),
                origin,
            ]
        )
    return table("graph>|ops>|calls>|host time>|a later call>|backend|from", rows)


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
        _or_missing(graph.ops),
        f"{graph_frame(graph)} {where}",
    ]


def _rest(count: int, what: str, where: str) -> Iterator[Block]:
    if count > 0:
        yield Paragraph(f"… and {number(count, 'more ' + what)}; {where}", "dim")


def _or_missing(value: int | None) -> str:
    return "not recorded" if value is None else f"{value:,}"


def _problems(recording: Recording) -> Iterator[Block]:
    notes = list((recording.run.notes if recording.run else None) or ())
    problems = [*notes, *recording.problems, *disagreements(recording.processes)]
    if problems:
        yield Heading("What could not be seen")
        yield Bullets(problems[:_PROBLEMS_SHOWN], "warning")
        yield from _rest(len(problems) - _PROBLEMS_SHOWN, "problem", "--format json has all")


def _next(recording: Recording, summary: Summary) -> Iterator[Block]:
    """The commands that have more to say."""
    commands = [
        ("ranks", len(ranks_of(recording)) > 1),
        ("breaks", bool(summary.graph_breaks or summary.frames_fell_back)),
        ("recompiles", bool(summary.recompiles)),
        ("profile", bool(summary.graphs)),
        ("graphs", bool(summary.graphs)),
        ("guards", bool(summary.guards)),
        ("bytecode --diff", bool(summary.frames)),
        ("ops", bool(summary.graphs)),
    ]
    told = [command for command, has_more in commands if has_more]
    if told:
        yield Heading("More")
        yield Paragraph(f"dynamo {' | '.join(told)}  {shlex.quote(str(recording.path))}", "dim")
