"""Findings: graph breaks, and with them the frames that run eager because of one."""

from collections.abc import Iterator

from ...model import GraphBreak
from ..break_costs import BreakCost
from ..break_effects import DistinctBreak
from ..break_sentences import effect_and_cost, title_of
from ..figures import Figures
from ..remedies.advice import Advice
from ..remedies.breaks import break_advice
from ..words import frame_name
from .draft import Draft
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .identity import without_what_passes
from .remedy import remedies


def breaks(figures: Figures) -> Iterator[Draft]:
    """One of each distinct break. Where it made frames run eager, that is what the finding is about."""
    of_stream = {process.stream: process for process in figures.recording.processes}
    for cost in figures.breaks:
        each, first = cost.distinct, cost.distinct.first
        kind: Kind = "fell back to eager" if each.frames_fell_back else "graph break"
        line = first.stack[-1] if first.stack else None
        met_in = dict.fromkeys(crossing.process.stream for crossing in each.crossings)
        processes = [of_stream[stream] for stream in met_in if stream in of_stream]
        hints = first.explanation.hints if first.explanation else ()
        yield Draft(
            kind,
            key=(without_what_passes(first.kind),),
            title=_title(each),
            cause=_cause(first),
            effect=effect_and_cost(cost),
            processes=tuple(processes or figures.recording.processes[:1]),
            place=first.place,
            function=None if line is None else line.function,
            source="" if line is None else line.text.strip(),
            via=each.user_call,
            cost=_cost(cost, figures),
            evidence=Evidence(
                tuple(dict.fromkeys(str(b.compile_id) for b in each.occurrences if b.compile_id)),
                tuple(
                    dict.fromkeys(graph.number for crossing in each.crossings for graph in crossing.before)
                ),
                (first.reason,),
                each.met,
            ),
            remedies=remedies(kind, break_advice(first) or [Advice(hint) for hint in hints[:1]]),
        )


def _title(each: DistinctBreak) -> str:
    title = f"graph break at {title_of(each.first)}"
    names = dict.fromkeys(frame_name(frame.name) for frame in each.frames_fell_back)
    return f"{', '.join(names)} runs eager: {title}" if names else title


def _cause(first: GraphBreak) -> str:
    """torch's explanation of it, or else what it calls it."""
    explanation = first.explanation.explanation if first.explanation else None
    return " ".join((explanation or first.kind).partition("\n\n")[0].split())


def _cost(cost: BreakCost, figures: Figures) -> Cost:
    if cost.distinct.frames_fell_back:
        # Frames that run eager cost no more than what was spent outside of graphs.
        outside = [figures.outside_seconds(process) for process in figures.recording.processes]
        known = [seconds for seconds in outside if seconds is not None]
        return Cost(saves_at_most=Figure(max(known), "estimated") if known else NOT_RECORDED)
    lost = NOT_RECORDED if cost.seconds is None else Figure(cost.seconds, "sampled")
    return Cost(lost=lost, saves_at_most=lost)
