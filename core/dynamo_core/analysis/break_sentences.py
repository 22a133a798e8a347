"""What a graph break is called, and what it does, in a few words."""

from collections.abc import Sequence

from ..model import GraphBreak, Place
from .break_costs import BreakCost
from .break_effects import DistinctBreak
from .words import frame_name, number, place, seconds

_LINES_SHOWN = 3


def title_of(graph_break: GraphBreak, shown_at: Place | None = None) -> str:
    """Place, kind and registry id of a break. `shown_at` is the user's line that led there."""
    explanation = graph_break.explanation
    known_as = f" ({explanation.registry_id})" if explanation and explanation.registry_id else ""
    return f"{place(shown_at or graph_break.place)} {graph_break.kind}{known_as}"


def effect(each: DistinctBreak) -> str:
    """What a break does, in a clause: met, crossed, or the whole frame eager."""
    parts = [f"met {number(each.met, 'time')} while compiling"]
    if each.frames_fell_back:
        names = dict.fromkeys(frame_name(frame.name, frame.method) for frame in each.frames_fell_back)
        parts.append(f"the whole frame runs eager ({', '.join(names)})")
    if not each.first.is_resumed:
        parts.append("torch cannot go on after it, so that the rest of the function runs eager")
    if each.crossings:
        crossed = each.crossed
        parts.append("crossings not recorded" if crossed is None else f"crossed {number(crossed, 'time')}")
        if each.inlined_by:
            parts.append(f"also breaks {number(each.inlined_by, 'compile')} that had inlined it")
    return ", ".join(parts)


def effect_and_cost(cost: BreakCost) -> str:
    """The same, with what it costs where that is known."""
    return f"{effect(cost.distinct)}{_time_outside(cost)}{_recompiles(cost)}"


def _time_outside(cost: BreakCost) -> str:
    if cost.seconds is None or cost.seconds_each is None:
        return ""
    others = cost.along_with
    together = f", together with {_at_lines(others)}" if others else ""
    whole = cost.seconds_each * (cost.distinct.crossed or 0)
    of_ranks = " in the rank that crosses it most" if seconds(whole) != seconds(cost.seconds) else ""
    waits = cost.waits_at
    less = "" if waits is None else f", less what `{waits}` waits: that stays"
    return (
        f"; {seconds(cost.seconds_each)} outside of graphs each time, "
        f"{seconds(cost.seconds)} in all{of_ranks}{together}: "
        f"fixing {'them all' if others else 'it'} saves at most this{less}"
    )


def _recompiles(cost: BreakCost) -> str:
    found = cost.recompiles
    if not found.seconds:
        return ""
    why = "" if found.lengthened is None else f" (it changes the length of `{found.lengthened}`)"
    return f"; recompiles because of this line took {seconds(found.seconds)}{why}"


def _at_lines(breaks: Sequence[DistinctBreak]) -> str:
    """`2 other breaks (model.py:14, model.py:15)`."""
    lines = sorted({place(each.first.place) for each in breaks})
    shown = ", ".join(lines[:_LINES_SHOWN]) + (", …" if len(lines) > _LINES_SHOWN else "")
    return f"{number(len(breaks), 'other break')} ({shown})"
