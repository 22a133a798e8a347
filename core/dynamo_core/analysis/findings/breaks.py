"""Findings: graph breaks, and with them the frames that run eager because of one."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ...model import Frame, GraphBreak, StackFrame
from ..break_costs import BreakCost
from ..break_sentences import effect_and_cost, title_of
from ..figures import Figures
from ..lasting_text import without_what_passes
from ..remedies.breaks import break_cause
from ..remedies.situation import user_line
from ..summary import break_identity
from ..words import frame_name
from .draft import Draft
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .remedy import break_remedies


def breaks(figures: Figures) -> Iterator[Draft]:
    """One of each distinct break. Where it made frames run eager, that is what the finding is about."""
    of_stream = {process.stream: process for process in figures.recording.processes}
    for cost in figures.breaks:
        each, first = cost.distinct, cost.distinct.first
        frames = [*each.frames_fell_back, *figures.fallen_at(break_identity(first))]
        kind: Kind = "fell back to eager" if frames else "graph break"
        line, library = user_line(first)
        version = each.process.torch_version
        met_in = dict.fromkeys(crossing.process.stream for crossing in each.crossings)
        processes = [of_stream[stream] for stream in met_in if stream in of_stream]
        yield Draft(
            kind,
            key=(without_what_passes(first.kind),),
            title=title(first, line, frames),
            cause=partial(break_cause, first, version),
            effect=effect_and_cost(cost),
            processes=tuple(processes or figures.recording.processes[:1]),
            place=first.place if line is None else line.place,
            function=None if line is None else line.function,
            source="" if line is None else line.text.strip(),
            via=None if library is None else first.stack[-1],
            cost=_cost(cost, frames, figures),
            evidence=Evidence(
                tuple(dict.fromkeys(str(b.compile_id) for b in each.occurrences if b.compile_id)),
                tuple(
                    dict.fromkeys(graph.number for crossing in each.crossings for graph in crossing.before)
                ),
                (first.reason,),
                each.met,
                tuple(dict.fromkeys(b.test for b in each.occurrences if b.test is not None)),
            ),
            remedies=partial(break_remedies, kind, first, version, cost.recompiles.lengthened),
        )


def title(first: GraphBreak, line: StackFrame | None, frames: Iterable[Frame]) -> str:
    """`forward runs eager: graph break at model.py:7 …`, at the user's own line."""
    shown = f"graph break at {title_of(first, None if line is None else line.place)}"
    names = dict.fromkeys(frame_name(frame.name, frame.method) for frame in frames)
    return f"{', '.join(names)} runs eager: {shown}" if names else shown


def _cost(cost: BreakCost, frames: Sequence[Frame], figures: Figures) -> Cost:
    if frames:
        # Frames that run eager cost no more than what was spent outside of graphs.
        outside = [figures.outside_seconds(process) for process in figures.recording.processes]
        known = [seconds for seconds in outside if seconds is not None]
        return Cost(saves_at_most=Figure(max(known), "estimated") if known else NOT_RECORDED)
    recompiling = cost.recompiles.seconds
    of_recompiles = Figure(recompiling, "measured") if recompiling else NOT_RECORDED
    if cost.seconds is None:
        return Cost(lost=of_recompiles, saves_at_most=of_recompiles)
    lost = Figure(cost.seconds + recompiling, "sampled")
    # How much of it is the waiting was not measured, and the waiting stays.
    return Cost(lost=lost, saves_at_most=lost if cost.waits_at is None else of_recompiles)
