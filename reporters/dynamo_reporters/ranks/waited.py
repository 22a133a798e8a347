"""What ranks spent in calls that all make together while one compiled, or longer than one of them did."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.ranks import (
    CompileWait,
    CompileWaits,
    HostClock,
    LateRank,
    TimedCompile,
    Waiting,
)
from dynamo_core.analysis.ranks.clocks import LEAST_CALLS
from dynamo_core.analysis.ranks.members import named
from dynamo_core.analysis.ranks.steps import ordinal
from dynamo_core.analysis.words import number, place, seconds
from dynamo_core.model import Place

from ..page.blocks import Block, Bullets, Heading, Paragraph

_SHOWN = 5
_BEFORE_SHOWN = 3


def compiled_meanwhile(found: CompileWaits) -> Iterator[Block]:
    """The compiles for which others waited, and how well that is known; nothing where none was seen."""
    if not found.waits:
        return
    yield Heading("Compiling on one rank, while others are in calls that all make together")
    lines = [_compile_wait(wait) for wait in found.waits[:_SHOWN]]
    rest = found.waits[_SHOWN:]
    if rest:
        waited = seconds(sum(wait.seconds for wait in rest))
        lines.append(f"{number(len(rest), 'more compile')}: {waited} in all")
    yield Bullets(lines)
    known = [
        f"In all, ranks were in such calls for {seconds(found.seconds)} while another compiled.",
        *_clocks(found.clocks),
    ]
    yield Paragraph(" ".join([*known, *_not_known(found)]), "dim")


def came_late(late: Sequence[LateRank]) -> Iterator[Block]:
    """Ranks whose calls are shorter than the others', and that were not compiling."""
    if not late:
        return
    yield Heading("Calls that all make together, and that are shorter on one rank")
    rest = len(late) - _SHOWN
    yield Bullets([*map(_late, late[:_SHOWN]), *([f"and {number(rest, 'other')}"] if rest > 0 else [])])
    yield Paragraph(
        "The rank that comes last waits for nobody and has the shortest call, and so has one that has less "
        "to do in the graph. Only calls that were noted one by one on several ranks are compared.",
        "dim",
    )


def _late(late: LateRank) -> str:
    graph = _graph(late.graph, late.collective, late.place)
    return (
        f"rank {late.rank} had the shortest in {late.late_calls:,} of {number(late.calls, 'call')} of "
        f"{graph}: on {named(late.waiting)} they took {seconds(late.seconds)} longer in all, beyond what it "
        f"was compiling, up to {seconds(late.longest_seconds)} in the "
        f"{ordinal(late.longest_number - 1)} call"
    )


def _compile_wait(wait: CompileWait) -> str:
    waiting = "; ".join(map(_waiting, wait.waiting))
    text = f"rank {wait.rank} compiled {_compile(wait.compile)}: {waiting}"
    if sum(len(each.ranks) for each in wait.waiting) > 1:
        text += f"; {seconds(wait.seconds)} in all"
    if wait.uncertainty_seconds is not None:
        text += f", each to within {seconds(wait.uncertainty_seconds)}"
    if wait.after:
        first = ", ".join(map(_compile, wait.after[:_BEFORE_SHOWN]))
        rest = len(wait.after) - _BEFORE_SHOWN
        more = f" and {rest:,} more" if rest > 0 else ""
        text += f"; since its last noted call, rank {wait.rank} had compiled {first}{more}"
    return text


def _compile(compiled: TimedCompile) -> str:
    reason = compiled.recompile_reason
    again = "" if reason is None else " again"
    why = "" if reason is None else f" ({reason})"
    where = "" if compiled.place is None else f" at {place(compiled.place)}"
    return f"{compiled.frame}{where} {compiled.compile_id}{again} for {seconds(compiled.seconds)}{why}"


def _waiting(waiting: Waiting) -> str:
    were = "was" if len(waiting.ranks) == 1 else "were"
    least, most = seconds(waiting.least_seconds), seconds(waiting.most_seconds)
    spent = most if least == most else f"{least} to {most}"
    graph = _graph(waiting.graph, waiting.collective, waiting.place)
    return f"{named(waiting.ranks)} {were} in {graph} for {spent} of it"


def _graph(graph: int, collective: str, where: Place | None) -> str:
    return f"graph {graph} ({collective}{'' if where is None else f' at {place(where)}'})"


def _clocks(clocks: Sequence[HostClock]) -> Iterator[str]:
    first, *others = clocks
    if not others:
        yield "All ranks name the same host, whose clock is taken to be one."
    for clock in others:
        who = _host(clock)
        if clock.offset_seconds is None or clock.uncertainty_seconds is None:
            yield (
                f"The clock of {who} could not be compared with that of {_host(first)}: "
                f"{number(clock.calls, 'call')} that ranks on both make together {_were(clock.calls)} noted, "
                f"and {LEAST_CALLS} are needed; what is between ranks on these two is not counted here."
            )
        else:
            which = "ahead of" if clock.offset_seconds >= 0 else "behind"
            yield (
                f"The clock of {who} is {seconds(abs(clock.offset_seconds))} {which} that of {_host(first)}, "
                f"by the ends of {number(clock.calls, 'call')} that ranks on both made together; nine in ten "
                f"of them agree on that to within {seconds(clock.uncertainty_seconds)}."
            )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _host(clock: HostClock) -> str:
    if clock.host is None:
        return f"{named(clock.ranks)}, whose host was not recorded,"
    return f"{clock.host} ({named(clock.ranks)})"


def _not_known(found: CompileWaits) -> Iterator[str]:
    if found.noted_calls < found.calls:
        yield (
            f"Of {number(found.calls, 'call')} in which a rank could have waited, {found.noted_calls:,} were "
            "noted one by one; the others are not counted here."
        )
    if found.shorter_calls_left_out:
        yield f"Not looked at: {number(found.shorter_calls_left_out, 'call')} that took less."
    if found.ranks_not_looked_at:
        yield f"Not looked at: {number(found.ranks_not_looked_at, 'rank')} for which another stands."
