"""Graph breaks, in the order of the findings: where, why, what they cost, and what to do about them."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.break_costs import BreakCost
from dynamo_core.analysis.break_effects import DistinctBreak
from dynamo_core.analysis.break_sentences import effect_and_cost, title_of
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings import ANALYSES_OF_THE_COMPILER, find
from dynamo_core.analysis.findings.ranked_breaks import ranked_breaks
from dynamo_core.analysis.given_up import what_stopped
from dynamo_core.analysis.remedies.advice import Advice
from dynamo_core.analysis.remedies.breaks import break_advice
from dynamo_core.analysis.summary import breaks_recorded, fell_back, gave_up
from dynamo_core.analysis.words import (
    alternatives,
    compile_label,
    first_line,
    frame_name,
    number,
    place,
    process_title,
)
from dynamo_core.model import BreakExplanation, Frame, Graph, GraphBreak, Process, Recording, resumed_function
from dynamo_core.recording.calls import CALL_SAMPLES

from ..detail import Detail
from ..documents import json_value
from ..page.blocks import Block, Bullets, Code, Heading, Paragraph, table
from ..report import Report
from .document import breaks_of


def report() -> Report:
    """The report of `dynamo breaks`."""
    return Report(
        "dynamo-breaks",
        1,
        frozenset({CALL_SAMPLES}),
        _page,
        lambda recording: json_value(breaks_of(recording)),
    )


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


def _explanation(explanation: BreakExplanation | None) -> Iterator[Block]:
    if explanation is None:
        return
    if explanation.explanation:
        yield Paragraph(" ".join(explanation.explanation.partition("\n\n")[0].split()))
    if explanation.hints:
        yield Bullets([f"hint: {' '.join(hint.split())}" for hint in explanation.hints])
    if explanation.link:
        yield Paragraph(explanation.link, "dim")


def _page(recording: Recording) -> Iterator[Block]:
    costs = ranked_breaks(Figures(recording))
    found = [cost.distinct for cost in costs]
    given_up = len(_given_up(recording, found))
    count = sum(each.met for each in found)
    if breaks_recorded(recording):
        distinct = f", {len(found)} distinct" if len(found) != count else ""
        also = f", {number(given_up, 'frame')} fell back to eager" if given_up else ""
        yield Heading(f"{number(count, 'graph break')}{distinct}{also}", 1)
    else:
        yield Heading("Graph breaks were not recorded.", 1)
        yield Paragraph(
            "This torch trace may be of a version that did not write them. `dynamo run` records them."
        )
        yield from _inferred(recording)
    yield from _problems(recording, costs)
    yield from _failed_compiles(recording)
    yield from _skipped(recording)


def problem_blocks(recording: Recording) -> Iterator[Block]:
    """Every distinct break, and every frame that Dynamo gave up for another reason."""
    yield from _problems(recording, ranked_breaks(Figures(recording)))


def _problems(recording: Recording, costs: list[BreakCost]) -> Iterator[Block]:
    given_up = _given_up(recording, [cost.distinct for cost in costs])
    is_first = _is_first(recording, given_up)
    if is_first:
        yield from _fallbacks(recording, given_up)
        if costs:
            yield Heading("Graph breaks")
    for rank, cost in enumerate(costs, 1):
        yield from _distinct(rank, cost, recording)
    if not is_first:
        yield from _fallbacks(recording, given_up)


def _is_first(recording: Recording, given_up: list[tuple[Process, Frame]]) -> bool:
    """Whether one of these frames is the first thing to fix, as every report has it."""
    ids = {str(frame.compile_id) for _, frame in given_up}
    findings = find(recording, analyses=ANALYSES_OF_THE_COMPILER) if given_up else []
    first = next((each for each in findings if each.kind in ("graph break", "fell back to eager")), None)
    return first is not None and not ids.isdisjoint(first.evidence.compile_ids)


def _given_up(recording: Recording, breaks: list[DistinctBreak]) -> list[tuple[Process, Frame]]:
    """Frames that Dynamo gave up, but for those that are told with a break."""
    told = {id(frame) for each in breaks for frame in each.frames_fell_back}
    return [
        (process, frame)
        for process in recording.processes
        for frame in process.frames
        if gave_up(frame) and id(frame) not in told
    ]


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


_MOST_PARTED = 5
_MOST_NAMED = 3
_COST_UNKNOWN = (
    "The time outside of graphs is not known: no call was timed from the graph before it to the one after it"
)
_MAY_BE_COSTLIER = ", so that it may be the costliest all the same."


def _distinct(rank: int, cost: BreakCost, recording: Recording) -> Iterator[Block]:
    each, first, said = cost.distinct, cost.distinct.first, effect_and_cost(cost)
    yield Heading(f"{rank}. {title_of(first)}")
    yield Paragraph(said[:1].upper() + said[1:] + ".", "strong")
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
    yield from _advice(break_advice(first, each.process.torch_version, cost.recompiles.lengthened))
    yield from _explanation(first.explanation)


def _advice(found: Sequence[Advice]) -> Iterator[Block]:
    for text in alternatives(advice.text for advice in found):
        yield Paragraph(f"What to do: {text}", "advice")


def _source(graph_break: GraphBreak) -> Iterator[Block]:
    """The line that broke, and its neighbours where they are known."""
    if graph_break.around and graph_break.place is not None:
        lines = graph_break.around
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
    parts = [
        f"between {_one_of(first) or 'no graph before it'} and "
        f"{_one_of(after[behind]) or 'no graph after it'}{where}"
        for (where, behind), first in before.items()
    ]
    if not parts:
        return None
    text = "; ".join(parts[:_MOST_PARTED])
    rest = len(parts) - _MOST_PARTED
    return text[:1].upper() + text[1:] + (f"; and {rest} more" if rest > 0 else "") + "."


def _one_of(graphs: Sequence[Graph]) -> str:
    """`graph 3 (2 ops) or graph 5 (1 op)`, `one of 8 graphs (3, 5, 7, …)`."""
    if len(graphs) <= _MOST_NAMED:
        return " or ".join(f"graph {graph.number} ({number(graph.ops, 'op')})" for graph in graphs)
    named = ", ".join(str(graph.number) for graph in graphs[:_MOST_NAMED])
    return f"one of {len(graphs)} graphs ({named}, …)"


def _fallbacks(recording: Recording, frames: list[tuple[Process, Frame]]) -> Iterator[Block]:
    if not frames:
        return
    yield Heading("Frames that fell back to eager")
    for process, frame in frames:
        where = process_title(process, recording)
        label = compile_label(frame.compile_id)
        yield Heading(f"{label} {frame_name(frame.name, frame.method)} ({place(frame.place)}){where}", 3)
        yield Paragraph(
            "It runs eager." if fell_back(frame) else "It raised an error in the program.", "strong"
        )
        reason, explanation = first_line(frame.reason), frame.explanation
        if explanation is not None:
            yield Paragraph(f"at {place(explanation.place)}: {reason}")
            if frame.broke is not None:
                yield from _source(frame.broke)
        elif frame.reason and frame.outcome == "raised":
            yield Code(frame.reason.strip(), "text")
        else:
            yield Paragraph(reason)
        yield from _advice(break_advice(what_stopped(frame), process.torch_version))
        yield from _explanation(explanation)


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
    if rows:
        yield Heading("Compiles that failed")
        yield table("compile|frame|why", rows)


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
