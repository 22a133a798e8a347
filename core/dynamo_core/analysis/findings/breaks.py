"""Findings: graph breaks, and with them the frames that run eager because of one."""

from collections.abc import Iterable, Iterator
from functools import partial

from ...model import Frame, GraphBreak, StackFrame
from ..break_costs import BreakCost
from ..break_sentences import effect_and_cost, title_of
from ..figures import Figures
from ..lasting_text import without_what_passes
from ..remedies.breaks import break_cause
from ..remedies.situation import user_line
from ..time.in_the_run import in_the_run
from ..words import frame_name
from .draft import Draft
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .remedy import break_remedies


def breaks(figures: Figures) -> Iterator[Draft]:
    """One of each distinct break. Where it made frames run eager, that is what the finding is about."""
    for cost in figures.breaks:
        each, first = cost.distinct, cost.distinct.first
        frames = each.frames_fell_back
        kind: Kind = "fell back to eager" if frames else "graph break"
        line, library = user_line(first)
        version = each.process.torch_version
        # Frames that run eager cost no more than what was spent outside of graphs.
        outside = _outside(cost, figures) if frames else None
        yield Draft(
            kind,
            key=(without_what_passes(first.kind),),
            title=title(first, line, frames),
            cause=partial(break_cause, first, version),
            effect=effect_and_cost(cost),
            processes=each.processes,
            place=first.place if line is None else line.place,
            function=None if line is None else line.function,
            source="" if line is None else line.text.strip(),
            via=None if library is None else first.stack[-1],
            cost=Cost(saves_at_most=outside) if outside is not None else _cost(cost),
            outside_seconds=0.0 if outside is None else outside.seconds or 0.0,
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


def _outside(cost: BreakCost, figures: Figures) -> Figure:
    outside = [(process, figures.outside_seconds(process)) for process in cost.distinct.processes]
    known = [(process, seconds) for process, seconds in outside if seconds is not None]
    return Figure(in_the_run(known), "estimated") if known else NOT_RECORDED


def _cost(cost: BreakCost) -> Cost:
    recompiling = cost.recompiles.seconds
    of_recompiles = Figure(recompiling, "measured") if recompiling else NOT_RECORDED
    if cost.seconds is None:
        return Cost(lost=of_recompiles, saves_at_most=of_recompiles)
    lost = Figure(cost.seconds + recompiling, "sampled")
    # How much of it is the waiting was not measured, and the waiting stays.
    return Cost(lost=lost, saves_at_most=lost if cost.waits_at is None else of_recompiles)
