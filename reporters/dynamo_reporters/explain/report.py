"""`dynamo explain`: one page, from the verdict down to what could not be seen."""

import shlex
from collections import Counter
from collections.abc import Iterator

from dynamo_core.model import Compile, Graph, Process, Recording
from dynamo_core.recording.aot_text import AOT_PAIRS_FROM_OUR_TEXT
from dynamo_core.summary import Summary, fell_back, gave_up, summarize

from ..backends.taken import backend_text, backends_section
from ..breaks.advice import advice_on, break_advice
from ..breaks.effects import distinct_breaks, is_library
from ..breaks.report import effect, title_of
from ..page.blocks import Block, Bullets, Heading, Paragraph, Table, table
from ..recompiles.after_freeze import after_freeze
from ..recompiles.report import frames_recompiled, is_recompile_limit
from ..report import Report, process_title
from ..text import bar, compile_label, first_line, frame_name, number, place, seconds
from ..training.words import training_section
from .compile_phases import phases_of
from .disagreements import disagreements
from .document import explain_body
from .overrides import override_lines
from .verdict import capture_sentence, ending, verdict
from .verified import verified_blocks

_ROWS_SHOWN = 10
_FIXES_SHOWN = 5


def report() -> Report:
    """The report of `dynamo explain`."""
    return Report("dynamo-explain", 1, frozenset({AOT_PAIRS_FROM_OUR_TEXT}), _page, explain_body)


def _page(recording: Recording) -> Iterator[Block]:
    summary = summarize(recording)
    yield Heading(verdict(recording, summary), 1)
    if recording.run is not None:
        command = shlex.join(recording.run.get("command") or [])
        yield Paragraph(f"{command} {ending(recording.run)}.")
    if recording.processes:
        yield Paragraph(_circumstances(recording))
        yield from _fixes(recording)
        yield from _asked_for(recording)
        yield Heading("Counts")
        yield _counts(summary)
        yield from backends_section(recording)
    yield from _ranks(recording)
    yield from _compile_time(recording)
    yield from _graphs(recording)
    yield from training_section(recording)
    yield from _problems(recording)
    yield from _next(recording, summary)


def _circumstances(recording: Recording) -> str:
    """How it was captured, and by which torch and Python, on what."""
    if recording.run is not None or any(process.is_ours for process in recording.processes):
        text = capture_sentence(recording)
    else:
        text = "A torch trace that dynamo did not record: it has no frames, graph calls or bytecode."
    versions = dict.fromkeys(f"torch {p.torch_version}" for p in recording.processes if p.torch_version)
    pythons = dict.fromkeys(f"Python {p.info['python']}" for p in recording.processes if p.info.get("python"))
    about = ", ".join([*versions, *pythons])
    return f"{text} {about}." if about else text


def _fixes(recording: Recording) -> Iterator[Block]:
    """What to mend, the costliest first: frames that run eager, graph breaks, recompiles."""
    given_up = Counter(_frames_given_up(recording)).most_common()
    breaks = distinct_breaks(recording)
    recompiled = sorted(frames_recompiled(recording), key=lambda f: (f.limit is None, -f.seconds))
    if not (given_up or breaks or recompiled):
        return
    yield Heading("Fix first")
    for (title, advice), times in given_up[:_FIXES_SHOWN]:
        yield Heading(title + (f" ({number(times, 'time')})" if times > 1 else ""), 3)
        yield from _advice(advice)
    yield from _rest(len(given_up) - _FIXES_SHOWN, "frame", "`dynamo breaks` shows all")
    for each in breaks[:_FIXES_SHOWN]:
        yield Heading(f"graph break at {title_of(each.first)}", 3)
        line = each.first.stack[-1].text.strip() if each.first.stack else ""
        yield Paragraph(f"{line}\n{effect(each)}".strip())
        if each.user_call is not None:
            yield Paragraph(f"called from {place(each.user_call.place)}: {each.user_call.text}")
        hints = each.first.explanation.hints if each.first.explanation else ()
        yield from _advice(break_advice(each.first) or next(iter(hints), None))
    yield from _rest(len(breaks) - _FIXES_SHOWN, "distinct break", "`dynamo breaks` shows all")
    for frame in recompiled[:_FIXES_SHOWN]:
        count = number(len(frame.compiles), "recompile")
        limit = ", and then torch's limit was hit" if frame.limit else ""
        yield Heading(
            f"{frame_name(frame.name)} at {place(frame.place)}{process_title(frame.process, recording)}: "
            f"{count} took {seconds(frame.seconds)}{limit}",
            3,
        )
        for advice in frame.advice[:2]:
            yield from _advice(advice)
    yield from _rest(len(recompiled) - _FIXES_SHOWN, "recompiled frame", "`dynamo recompiles` shows all")


def _asked_for(recording: Recording) -> Iterator[Block]:
    """What was done because --freeze-after, --override or --verify said so."""
    yield from after_freeze(recording)
    overrides = override_lines(recording)
    if overrides:
        yield Heading("Overrides")
        yield Bullets(overrides)
    yield from verified_blocks(recording)


def _advice(text: str | None) -> Iterator[Block]:
    if text:
        yield Paragraph(f"→ {text}", "advice")


def _frames_given_up(recording: Recording) -> Iterator[tuple[str, str | None]]:
    """Frames that fell back to eager or raised, and in a trace that is not ours the compiles that failed."""
    for process in recording.processes:
        # First the user's own: a library's frame is seldom for the user to mend.
        for frame in sorted(process.frames, key=lambda frame: is_library(frame.place)):
            # A frame at its recompile limit is told among the recompiles.
            if gave_up(frame) and not is_recompile_limit(frame.reason):
                reason = first_line(frame.reason)
                explanation = frame.explanation.explanation if frame.explanation else frame.reason
                what = "runs eager" if fell_back(frame) else "raised an error in the compiler"
                yield (
                    f"{frame_name(frame.name)} at {place(frame.place)} {what}: {reason}",
                    advice_on(reason, explanation),
                )
        if not process.is_ours:
            for compile_ in process.compiles:
                if compile_.fail_type is not None and not is_recompile_limit(compile_.fail_reason):
                    reason = f"{compile_.fail_type}: {first_line(compile_.fail_reason)}"
                    where = f"{frame_name(compile_.name)} at {place(compile_.place)}"
                    yield f"{where} could not be compiled: {reason}", advice_on(reason, None)


def _counts(summary: Summary) -> Table:
    rows = [
        ("processes", summary.processes),
        ("frames", _of(summary.frames_compiled, summary.frames, "ok, as torch counts")),
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
    yield table("rank>|" + "|".join(f"{heading}>" for heading in headings), rows)
    differ = [
        heading for column, heading in enumerate(headings[:-1], 1) if len({row[column] for row in rows}) > 1
    ]
    if differ:
        yield Paragraph(f"The ranks differ in: {', '.join(differ)}.", "warning")
    else:
        yield Paragraph("The ranks agree in all counts.")


def _compile_time(recording: Recording) -> Iterator[Block]:
    of = [(compile_, process) for process in recording.processes for compile_ in process.compiles]
    compiles = [compile_ for compile_, _ in of]
    if not compiles:
        return
    phases = phases_of(compiles)
    total = sum(phase.seconds for phase in phases)
    yield Heading("Where compile time went")
    if total:
        yield table(
            "phase|time>|share>|",
            [
                [
                    phase.name,
                    seconds(phase.seconds),
                    f"{phase.seconds / total:.0%}",
                    bar(phase.seconds, total),
                ]
                for phase in phases
            ],
        )
    thrown_away = sum(c.seconds_before_restart or 0.0 for c in compiles)
    failed = sum(c.seconds or 0.0 for c in compiles if c.fail_type is not None)
    again = sum(c.seconds or 0.0 for p in recording.processes for c in p.recompiles)
    notes = [
        f"{seconds(value)} {what}"
        for value, what in (
            (again, "of it in recompiles"),
            (thrown_away, "of it in analysis that began again"),
            (failed, "of it in compiles that failed"),
        )
        if value
    ]
    lookups = Counter(
        (lookup.cache, lookup.outcome) for process in recording.processes for lookup in process.cache_lookups
    )
    for cache in dict.fromkeys(cache for cache, _ in lookups):
        told = [
            f"{lookups[cache, outcome]} {outcome}"
            for outcome in ("hit", "miss", "bypass")
            if lookups[cache, outcome]
        ]
        notes.append(f"{_CACHES.get(cache, cache)}: {', '.join(told)}")
    if notes:
        yield Bullets(notes)
    costliest = sorted(of, key=lambda pair: -(pair[0].seconds or 0))
    if len(compiles) > 1:
        yield _compiles(costliest[:_ROWS_SHOWN], recording)
        yield from _rest(len(compiles) - _ROWS_SHOWN, "compile", "--format json has all")


_CACHES = {"fx_graph_cache": "FX graph cache", "aotautograd_cache": "AOTAutograd cache"}


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
                f"{frame_name(compile_.name)} {place(compile_.place)}{where}" if compile_.place else where,
            ]
        )
    return table("costliest|took>|caches hit>|of", rows)


def _graphs(recording: Recording) -> Iterator[Block]:
    for process in recording.processes:
        graphs = process.compiled_graphs
        if not graphs:
            continue
        yield Heading(f"Graphs{process_title(process, recording)}")
        yield _graph_table(sorted(graphs, key=lambda graph: -(graph.host_seconds or 0))[:_ROWS_SHOWN])
        yield from _rest(len(graphs) - _ROWS_SHOWN, "graph", "`dynamo graphs` shows all")


def _graph_table(graphs: list[Graph]) -> Table:
    if all(graph.calls is None and graph.backend is None for graph in graphs):
        return table("graph>|ops>|from", [_graph_cells(graph) for graph in graphs])
    rows = []
    for graph in graphs:
        number_and_id, ops, origin = _graph_cells(graph)
        mean = graph.host_seconds / graph.calls if graph.calls and graph.host_seconds else None
        rows.append(
            [
                number_and_id,
                ops,
                _or_missing(graph.calls),
                seconds(graph.host_seconds),
                seconds(mean) if graph.calls != 0 else "never called",
                backend_text(graph),
                origin,
            ]
        )
    return table("graph>|ops>|calls>|host time>|a call>|backend|from", rows)


def _graph_cells(graph: Graph) -> list[str]:
    return [
        f"{graph.number} {compile_label(graph.compile_id)}",
        _or_missing(graph.ops),
        f"{frame_name(graph.frame_name)} {place(graph.frame_place)}",
    ]


def _rest(count: int, what: str, where: str) -> Iterator[Block]:
    if count > 0:
        yield Paragraph(f"… and {number(count, 'more ' + what)}; {where}", "dim")


def _or_missing(value: int | None) -> str:
    return "not recorded" if value is None else f"{value:,}"


def _problems(recording: Recording) -> Iterator[Block]:
    notes = list((recording.run or {}).get("notes") or [])
    problems = [*notes, *recording.problems, *disagreements(recording.processes)]
    if problems:
        yield Heading("What could not be seen")
        yield Bullets(problems, "warning")


def _next(recording: Recording, summary: Summary) -> Iterator[Block]:
    """The commands that have more to say."""
    commands = [
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
