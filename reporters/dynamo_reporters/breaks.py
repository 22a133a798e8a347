"""Graph breaks, in the order of the findings: where, why, what they cost, and what to do about them."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from dynamo_core.analysis.break_costs import BreakCost, effect_and_cost, title_of
from dynamo_core.analysis.break_effects import DistinctBreak, Fallback
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.recompiles import is_recompile_limit
from dynamo_core.analysis.summary import (
    breaks_recorded,
    failed_to_compile,
    fell_back,
    probe_failed,
    recorded,
    were_not_recorded,
)
from dynamo_core.analysis.verdict import Audit, fell_back_at_the_limit
from dynamo_core.analysis.words import (
    alternatives,
    compile_label,
    first_line,
    frame_name,
    number,
    place,
    process_title,
)
from dynamo_core.case import Case
from dynamo_core.findings.breaks import of_frame, to_be_cured
from dynamo_core.findings.recompiles import ranked_breaks, ranked_problems
from dynamo_core.model import (
    BreakExplanation,
    CompileId,
    Graph,
    GraphBreak,
    Place,
    Process,
    Recording,
    StackFrame,
    resumed_function,
)
from dynamo_core.recording.calls import CALL_SAMPLES
from dynamo_core.remedies.break_rules import break_advice, useful_hints
from dynamo_core.remedies.expected import expected_break
from dynamo_core.remedies.rules import Advice
from dynamo_core.remedies.this_run import suited_to_the_run
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At
from dynamo_core.shared.quick_dataclass import dataclass

from .page.blocks import Block, Bullets, Code, Heading, Paragraph, rest, section, table
from .report import Detail, Report

_SHOWN_BEHIND = 2  # lines behind the one that broke


@dataclass(frozen=True)
class Separated:
    """The graphs before and after a break, by their numbers."""

    process: Process
    compile_id: CompileId | None
    before: list[int]
    after: list[int]


@dataclass(frozen=True)
class Break:
    """A graph break, however often it was met."""

    place: Place | None
    kind: Annotated[str, "torch's name for the kind of break, or the first line of the raw reason"]
    reason: Annotated[str, "torch's whole reason"]
    registry_id: Annotated[
        str | None, At("explanation.registry_id"), "GBnnnn in torch's graph break registry"
    ]
    link: Annotated[str | None, At("explanation.link")]
    explanation: Annotated[str | None, At("explanation.explanation")]
    hints: Annotated[tuple[str, ...] | None, At("explanation.hints"), "torch's"]
    advice: Annotated[str | None, "ours"]
    met: Annotated[int, "how often Dynamo met it while compiling"]
    crossed: Annotated[int | None, "how often it was crossed at run time"]
    makes_frame_eager: bool
    expected: Annotated[str | None, "why torch breaks the graph here on purpose; there is nothing to do then"]
    compile_ids: Annotated[list[CompileId | None], "of each time it was met"]
    stack: Annotated[list[StackFrame], "from the compiled frame to the line that broke"]
    callers: Annotated[list[StackFrame], "from the program's start to the compiled frame"]
    user_call: Annotated[
        StackFrame | None, "the innermost line of the user's own where the break is in a library"
    ]
    source: Annotated[dict[str, str] | None, "the lines around, by number"]
    between: Annotated[list[Separated], "the graphs that it separates"]


@dataclass(frozen=True)
class FrameInEager:
    """A frame that was not compiled."""

    process: Process
    name: str
    place: Place | None
    compile_id: CompileId | None
    reason: str | None
    broke_at: Annotated[
        Place | None, At("explanation.place"), "the line that made Dynamo give up, if torch names it"
    ]
    kind: Annotated[str | None, At("explanation.kind"), "torch's name for the kind of break that it was"]


@dataclass(frozen=True)
class Breaks:
    """Each graph break, what it separates and what to do about it, and the frames that were not compiled."""

    count: Annotated[int | None, "torch's graph_break_reasons: every break met"]
    breaks: Annotated[list[Break] | None, "distinct ones by place and kind, worst first"]
    fell_back: Annotated[
        list[FrameInEager] | None, "frames that Dynamo could not compile, so that they ran eager"
    ]
    raised: Annotated[list[FrameInEager] | None, "frames whose compile raised an error in the program"]
    skipped: Annotated[list[FrameInEager] | None, "frames that Dynamo left alone"]


def breaks_of(case: Case) -> Breaks:
    """The breaks, in the order of the findings."""
    recording = case.recording
    costs = ranked_breaks(case.figures)
    is_known = breaks_recorded(recording)
    has_frames = recorded(recording, "frames")
    return Breaks(
        count=sum(cost.distinct.met for cost in costs) if is_known else None,
        breaks=[_break(cost, recording) for cost in costs] if is_known else None,
        fell_back=_frames(recording, "failed") if has_frames else None,
        raised=_frames(recording, "raised") if has_frames else None,
        skipped=_frames(recording, "skipped") if has_frames else None,
    )


def _break(cost: BreakCost, recording: Recording) -> Break:
    each, first = cost.distinct, cost.distinct.first
    advice = _advice(cost, recording)
    return from_fields(
        Break,
        first,
        advice=advice[0].text if advice else None,
        met=each.met,
        crossed=each.crossed,
        makes_frame_eager=bool(each.frames_fell_back),
        expected=expected_break(first),
        compile_ids=[occurrence.compile_id for occurrence in each.occurrences],
        user_call=each.user_call,
        source={str(line): text for line, text in first.around.items()} or None,
        between=[
            Separated(
                process=crossing.process,
                compile_id=crossing.compile_id,
                before=[graph.number for graph in crossing.before],
                after=[graph.number for graph in crossing.after],
            )
            for crossing in each.crossings
        ],
    )


def _frames(recording: Recording, outcome: str) -> list[FrameInEager]:
    return [
        from_fields(FrameInEager, frame, process=process)
        for process in recording.processes
        for frame in process.frames
        if frame.outcome == outcome
    ]


def report() -> Report[Case]:
    """The report of `dynamo breaks`."""
    return Report("breaks", _page, breaks_of, frozenset({CALL_SAMPLES}))


def break_blocks(graph_break: GraphBreak, detail: Detail) -> list[Block]:
    """One break: place and kind; the user's line, explanation and hints; with MORE, the whole user stack."""
    blocks: list[Block] = [
        Heading(f"graph break {compile_label(graph_break.compile_id)} {title_of(graph_break)}", 3)
    ]
    if detail is Detail.LESS:
        return blocks
    for frame in graph_break.stack if detail is Detail.MORE else graph_break.stack[-1:]:
        if detail is Detail.MORE:
            blocks.append(Paragraph(f"{place(frame.place)} in {frame.function}", "dim"))
        if frame.text:
            blocks.append(Paragraph(f"  {frame.text.strip()}"))
    blocks += _explanation(graph_break.explanation)
    if detail is Detail.MORE:
        blocks.append(Paragraph(f"torch's reason: {graph_break.reason}", "dim"))
    return blocks


def _explanation(explanation: BreakExplanation | None, advice: Sequence[str] = ()) -> Iterator[Block]:
    """What torch says of it; a hint that is the advice is not repeated."""
    if explanation is None:
        return
    if explanation.explanation:
        yield Paragraph(" ".join(explanation.explanation.partition("\n\n")[0].split()))
    yield Bullets([f"hint: {hint}" for hint in useful_hints(explanation.hints) if hint not in advice])
    if explanation.link:
        yield Paragraph(explanation.link, "dim")


def _page(case: Case) -> Iterator[Block]:
    recording, figures = case.recording, case.figures
    if breaks_recorded(recording):
        yield Heading(_counts(case), 1)
    else:
        yield Heading(were_not_recorded("Graph breaks", recording.processes, "graph breaks"), 1)
        if probe_failed(recording.processes, "graph breaks") is None:
            yield Paragraph(
                "This torch trace may be of a version that did not write them. `dynamo run` records them."
            )
        yield from _inferred(recording)
    if not recorded(recording, "frames"):
        frames = "Frames that fell back to eager"
        yield Paragraph(were_not_recorded(frames, recording.processes, "frames"), "warning")
    yield from problem_blocks(figures)
    yield from _others(figures)
    yield from _failed_compiles(recording)
    yield from _skipped(recording)


def _counts(case: Case) -> str:
    """Breaks and frames, counted as on every page."""
    summary = case.summary
    met, distinct = summary.graph_breaks, summary.distinct_graph_breaks
    parts = [number(met, "graph break"), f"{distinct} distinct" if distinct != met else ""]
    if summary.frames_fell_back:
        at_limit = fell_back_at_the_limit(case.recording, summary.frames_fell_back)
        parts.append(f"{number(summary.frames_fell_back, 'frame')} fell back to eager{at_limit}")
    if summary.frames_raised:
        parts.append(f"{number(summary.frames_raised, 'frame')} raised an error in the compiler")
    return ", ".join(filter(None, parts))


def problem_blocks(figures: Figures) -> Iterator[Block]:
    """Each distinct break, and each frame that fell back of itself, in the order of the findings."""
    for rank, each in enumerate(ranked_problems(figures), 1):
        if isinstance(each, BreakCost):
            yield from _distinct(rank, each, figures.recording)
        else:
            yield from _fallback(rank, each, figures)


def _others(figures: Figures) -> Iterator[Block]:
    """Further frames that Dynamo could not compile, of which there is nothing to be cured here."""
    named = {id(each) for cost in figures.breaks for each in cost.distinct.frames_fell_back}
    named |= {id(each.frame) for each in to_be_cured(figures)}
    rows = []
    for process in figures.recording.processes:
        for frame in process.frames:
            if failed_to_compile(frame) and id(frame) not in named:
                name = f"{frame_name(frame.name, frame.method)} ({place(frame.place)})"
                why = _AT_THE_LIMIT if is_recompile_limit(frame.reason) else first_line(frame.reason)
                where = process_title(process, figures.recording)
                what = "runs eager" if fell_back(frame) else "raised an error"
                rows.append([compile_label(frame.compile_id), f"{name}{where}", what, why])
    yield from section("Other frames that could not be compiled", table("compile|frame|it|why", rows))


def _inferred(recording: Recording) -> Iterator[Block]:
    """Where breaks must have been: each left a resume function, whose name has the line."""
    resumed = [
        f"{frame_name(compile_.name, compile_.method)} ({place(compile_.place)})"
        for process in recording.processes
        for compile_ in process.compiles
        if resumed_function(compile_.name)
    ]
    if resumed:
        yield Paragraph("But there were some: these functions go on after a break.")
        yield Bullets(list(dict.fromkeys(resumed)))


_AT_THE_LIMIT = "torch's recompile limit: `dynamo recompiles`"
_MOST_PARTED = 5
_MOST_LINES, _LONGEST_LINE = 30, 300  # of an error in the compiler, and characters of a line
_MOST_NAMED = 3
_COST_UNKNOWN = (
    "The time outside of graphs is not known: no call was timed from the graph before it to the one after it"
)
_MAY_BE_COSTLIER = ", so that it may be the costliest all the same."


def _distinct(rank: int, cost: BreakCost, recording: Recording) -> Iterator[Block]:
    each, first, what = cost.distinct, cost.distinct.first, effect_and_cost(cost)
    yield Heading(f"{rank}. {title_of(first)}")
    yield Paragraph(what[:1].upper() + what[1:] + ".", "strong")
    if cost.seconds is None and each.crossed:
        yield Paragraph(_COST_UNKNOWN + (_MAY_BE_COSTLIER if rank > 1 else "."))
    yield from _source(first)
    if each.user_call is not None:
        call = each.user_call
        yield Paragraph(
            f"Your call that led there: {place(call.place)} in {call.function}: {call.text}".rstrip(": ")
        )
    elif len(first.stack) > 1:
        way = " → ".join(f"{frame_name(frame.function)} ({place(frame.place)})" for frame in first.stack)
        yield Paragraph(f"Inlined: {way}", "dim")
    parted = _parted(each, recording)
    if parted:
        yield Paragraph(parted)
    if any(process.inherited_calls for process in recording.processes):
        yield Paragraph("Calls in forked processes of graphs that were compiled before are not in it.", "dim")
    expected = expected_break(first)
    if expected is not None:
        yield Paragraph(f"Nothing to do: {expected}.", "advice")
        return
    yield from _advice_and_explanation(_advice(cost, recording), first.explanation)


def _advice(cost: BreakCost, recording: Recording) -> Sequence[Advice]:
    each = cost.distinct
    found = break_advice(each.as_it_stopped, each.process.torch_version, cost.recompiles.lengthened)
    compile_ids = [met.compile_id for met in each.occurrences]
    return suited_to_the_run(found, recording, each.processes, compile_ids, each.first.place)


def _advice_and_explanation(found: Sequence[Advice], explanation: BreakExplanation | None) -> Iterator[Block]:
    texts = [advice.text for advice in found]
    for text in alternatives(texts):
        yield Paragraph(f"What to do: {text}", "advice")
    yield from _explanation(explanation, texts)


def _source(graph_break: GraphBreak) -> Iterator[Block]:
    """The line that broke, and its neighbours where they are known."""
    if graph_break.around and graph_break.place is not None:
        last = graph_break.place.line + _SHOWN_BEHIND
        lines = {line: text for line, text in graph_break.around.items() if line <= last}
        text = "\n".join(lines[line] for line in sorted(lines))
        yield Code(text, "python", min(lines), frozenset({graph_break.place.line}))
    elif graph_break.stack and graph_break.stack[-1].text:
        yield Code(graph_break.stack[-1].text.strip(), "python", graph_break.stack[-1].place.line)


def _parted(each: DistinctBreak, recording: Recording) -> str | None:
    """Which graphs the break lies between."""
    # The versions of one function go on in the same graphs.
    before: dict[tuple[str, tuple[int, ...]], list[Graph]] = {}
    after: dict[tuple[int, ...], Sequence[Graph]] = {}
    shared: dict[tuple[int, int], list[Graph]] = {}  # many crossings may have the same behind them
    for crossing in each.crossings:
        same = id(crossing.process), id(crossing.after)
        if same not in shared:
            behind = tuple(graph.number for graph in crossing.after)
            shared[same] = before.setdefault((process_title(crossing.process, recording), behind), [])
            after[behind] = crossing.after
        shared[same] += crossing.before
    is_known = probe_failed(recording.processes, "graphs", "resume functions", "bytecode") is None
    none = "no graph {} it" if is_known else "what was not recorded {} it"
    parts = [
        _sides(_one_of(first), _one_of(after[behind]), none) + where
        for (where, behind), first in before.items()
    ]
    if not parts:
        return None
    text = "; ".join(parts[:_MOST_PARTED])
    rest = len(parts) - _MOST_PARTED
    return text[:1].upper() + text[1:] + (f"; and {rest} more" if rest > 0 else "") + "."


def _sides(before: str, after: str, none: str) -> str:
    """The graphs on both sides of a break; `none` says that one side has none."""
    if before and after:
        return f"between {before} and {after}"
    ahead = f"{before} before it" if before else none.format("before")
    return f"{ahead}, {f'{after} after it' if after else none.format('after')}"


def _one_of(graphs: Sequence[Graph]) -> str:
    """`graph 3 (2 ops) or graph 5 (1 op)`, `one of 8 graphs (3, 5, 7, …)`."""
    if len(graphs) <= _MOST_NAMED:
        return " or ".join(f"graph {graph.number} ({number(graph.ops, 'op')})" for graph in graphs)
    named = ", ".join(str(graph.number) for graph in graphs[:_MOST_NAMED])
    return f"one of {len(graphs)} graphs ({named}, …)"


def _error(lines: Sequence[str]) -> Iterator[Block]:
    """An error in the compiler, which may hold all that a C++ compiler has printed."""
    shown = (
        each if len(each) <= _LONGEST_LINE else f"{each[:_LONGEST_LINE]}…" for each in lines[:_MOST_LINES]
    )
    yield Code("\n".join(shown), "text")
    yield from rest(len(lines) - _MOST_LINES, "line", "; `--format json` has all")


def _fallback(rank: int, fallback: Fallback, figures: Figures) -> Iterator[Block]:
    process, frame, stopped = fallback
    yield Heading(f"{rank}. {of_frame(figures, fallback).title}")
    where = process_title(process, figures.recording)
    yield Paragraph(f"Compile {compile_label(frame.compile_id)}{where}.", "dim")
    if frame.broke is not None:
        yield from _source(frame.broke)
    elif frame.reason and frame.outcome == "raised":
        yield from _error(frame.reason.strip().splitlines())
    found = break_advice(stopped, process.torch_version)
    advice = suited_to_the_run(found, figures.recording, (process,), [frame.compile_id], stopped.place)
    yield from _advice_and_explanation(advice, frame.explanation)


def _failed_compiles(recording: Recording) -> Iterator[Block]:
    """What a plain torch trace has of frames that fell back: the compiles that failed."""
    rows = [
        [
            compile_label(compile_.compile_id),
            f"{frame_name(compile_.name, compile_.method)} ({place(compile_.place)})",
            f"{compile_.fail_type}: {first_line(compile_.fail_reason)}",
        ]
        for process in recording.processes
        if not process.is_ours
        for compile_ in process.compiles
        if compile_.fail_type is not None
    ]
    yield from section("Compiles that failed", table("compile|frame|why", rows))


def _skipped(recording: Recording) -> Iterator[Block]:
    """Frames that Dynamo looked at and left alone; by reason, since there can be hundreds."""
    skipped = [
        frame for process in recording.processes for frame in process.frames if frame.outcome == "skipped"
    ]
    if not skipped:
        return
    yield Heading(f"{number(len(skipped), 'frame')} skipped")
    by_reason: dict[str, list[str]] = {}
    for frame in skipped:
        reason = frame.reason or "no reason recorded"
        by_reason.setdefault(reason, []).append(frame_name(frame.name, frame.method))
    rows = []
    for reason, of_it in sorted(by_reason.items(), key=lambda each: -len(each[1])):
        names = list(dict.fromkeys(of_it))
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        rows.append([str(len(of_it)), reason, shown])
    yield table("frames>|reason|functions", rows)


def audit_sentence(found: Audit) -> str:
    """The verdict of `--fullgraph` at the end of a run."""
    seen = f"{number(found.frames, 'frame')}, {number(found.graphs, 'graph')}"
    if found.is_clean:
        return f"no graph breaks in {seen}"
    parts = []
    if found.breaks:
        distinct = f" ({found.distinct_breaks} distinct)" if found.distinct_breaks != found.breaks else ""
        parts.append(number(found.breaks, "graph break") + distinct)
    if found.fallbacks:
        parts.append(f"{number(found.fallbacks, 'frame')} that could not be compiled")
    if parts:
        return f"{' and '.join(parts)} in {seen}"
    return f"{found.unseen}, so nothing can be said of graph breaks"
