"""The ranks beside each other: their counts, where they first differ, and who waits for whom."""

from collections.abc import Iterator, Sequence
from typing import Literal

from dynamo_core.analysis.ranks import (
    CompileWait,
    CompileWaits,
    Difference,
    GradientsOfRank,
    HostClock,
    LateRank,
    RankRow,
    Ranks,
    TimedCompile,
    Wait,
    Waiting,
    who_came_last,
)
from dynamo_core.analysis.ranks.compile_waits import LEAST_CALLS
from dynamo_core.analysis.ranks.members import ordinal, ranks_in_words
from dynamo_core.analysis.words import count_text, number, place, seconds, time_of_day
from dynamo_core.case import Case
from dynamo_core.compare.node_changes import SourceLines
from dynamo_core.model import Place
from dynamo_core.recording.calls import CALL_SAMPLES
from dynamo_core.recording.ranks import FLIGHT_RECORDER
from dynamo_core.shared import names

from .page.blocks import Block, Bullets, Heading, Paragraph, table
from .report import Report

# What ranks spent in calls that all make together while one compiled, or longer than one of them did.


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


def gradients(exchanged: Sequence[GradientsOfRank]) -> Iterator[Block]:
    """What DistributedDataParallel timed of a step on each rank; nothing where it timed none."""
    if not exchanged:
        return
    yield Heading("Exchange of gradients by DistributedDataParallel, in the last step that it timed")
    rows = [
        [
            str(each.rank),
            each.module,
            f"{each.step:,}",
            seconds(each.forward_seconds),
            seconds(each.backward_seconds),
            seconds(each.exchange_seconds),
            seconds(each.average_exchange_seconds),
        ]
        for each in exchanged
    ]
    yield table("rank|module|step>|forward>|backward>|exchange>|on average>", rows)
    yield Paragraph(
        "An exchange ends when the gradients of all ranks have come: the rank that comes last waits for "
        "nobody and has the shortest. torch times the first ten steps and each hundredth; the average has "
        "them all, also those in which something was compiled.",
        "dim",
    )


def _late(late: LateRank) -> str:
    graph = _graph(late.graph, late.collective, late.place)
    return (
        f"rank {late.rank} had the shortest in {late.late_calls:,} of {number(late.calls, 'call')} of "
        f"{graph}: on {ranks_in_words(late.waiting)} they took {seconds(late.seconds)} longer in all, beyond "
        f"what it was compiling, up to {seconds(late.longest_seconds)} in the "
        f"{ordinal(late.longest_number - 1)} call"
    )


def _compile_wait(wait: CompileWait) -> str:
    waiting = "; ".join(map(_waited, wait.waiting))
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


def _waited(waiting: Waiting) -> str:
    were = "was" if len(waiting.ranks) == 1 else "were"
    least, most = seconds(waiting.least_seconds), seconds(waiting.most_seconds)
    spent = most if least == most else f"{least} to {most}"
    graph = _graph(waiting.graph, waiting.collective, waiting.place)
    return f"{ranks_in_words(waiting.ranks)} {were} in {graph} for {spent} of it"


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
        return f"{ranks_in_words(clock.ranks)}, whose host was not recorded,"
    return f"{clock.host} ({ranks_in_words(clock.ranks)})"


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


# The nodes of every graph, and for a trace that is not ours its readable code; who waited when.
_CONTENTS = frozenset({names.FX_GRAPH, "dynamo_output_graph", FLIGHT_RECORDER, CALL_SAMPLES})
_COLLECTIVES_SHOWN = 6
_WORTH_A_TITLE = 1.0  # seconds


def report() -> Report[Case]:
    """The report of `dynamo ranks`."""
    return Report("ranks", _page, lambda case: case.ranks, _CONTENTS, one_for_alike=True)


def in_short(ranks: Ranks, lines: SourceLines) -> Iterator[Block]:
    """Several ranks in short: who waits for whom, their counts, and the first difference."""
    yield from _waiting(ranks.waiting)
    yield _rows(ranks.rows)
    for difference in ranks.differences[:1]:
        yield from _difference(difference, lines)


def _page(case: Case) -> Iterator[Block]:
    recording, ranks = case.recording, case.ranks
    count = sum(len(row.ranks) for row in ranks.rows)
    if count < 2:
        what = "One rank was recorded" if count else "No rank was recorded"
        yield Heading(f"{what}: there is nothing to compare.", 1)
        yield Paragraph(
            "The rank of a process is in its environment (RANK) and in torch's trace of what it compiles.",
            "dim",
        )
        return
    yield Heading(f"{number(count, 'rank')}: {_title(ranks)}", 1)
    yield from _waiting(ranks.waiting[1:])  # the first is the page's title
    yield _rows(ranks.rows)
    lines = SourceLines(recording)
    yield from _differences(ranks.differences, lines)
    yield from _waits(ranks)
    yield from came_late(ranks.late)
    yield from gradients(ranks.gradients)
    yield from compiled_meanwhile(ranks.compile_waits)
    yield Heading("What was compared")
    if ranks.compared:
        yield Paragraph(f"The same on all ranks: {'; '.join(ranks.compared)}.")
    yield Paragraph(f"Not compared: {'; '.join(ranks.not_compared)}.", "dim")
    yield Paragraph(
        "Not measured: how long ranks wait in collectives outside of compiled graphs. Of the steps that "
        "`dynamo run --profile` records, `dynamo profile --format chrome` draws that.",
        "dim",
    )
    if ranks.left_out:
        yield Paragraph(f"Left out: {'; '.join(ranks.left_out)}.")


def _title(ranks: Ranks) -> str:
    """Who waits for whom, else the first difference; and which rank came last again and again."""
    text = ranks.verdict or "no difference in what was compared"
    late = None if ranks.waiting else who_came_last(ranks.gradients) or _worst_late(ranks.late)
    if late is None:
        return text
    return f"{text}, but {late}" if ranks.verdict is None else f"{text}; {late}"


def _worst_late(late: Sequence[LateRank]) -> str | None:
    longest = next(iter(late), None)
    if longest is None or longest.seconds < _WORTH_A_TITLE:
        return None
    longer = seconds(longest.seconds)
    return f"calls with a collective took {longer} longer on others than on rank {longest.rank}"


def _rows(rows: tuple[RankRow, ...]) -> Block:
    cells = [
        [
            ranks_in_words(row.ranks).partition(" ")[2],
            row.state,
            *map(count_text, (row.graphs, row.ops, row.graph_breaks, row.recompiles)),
            f"{row.cache_hits} of {row.cache_hits + row.cache_misses}",
            _range(row.least_compile_seconds, row.most_compile_seconds),
        ]
        for row in rows
    ]
    return table("ranks|state|graphs>|ops>|breaks>|recompiles>|cache hits>|compile time>", cells)


def _range(least: float | None, most: float | None) -> str:
    low, high = seconds(least), seconds(most)
    return low if low == high else f"{low} to {high}"


def _differences(differences: Sequence[Difference], lines: SourceLines) -> Iterator[Block]:
    """What may be the cause of the others comes first; a setting is the consequence of none."""
    first = next((at for at, each in enumerate(differences) if each.subject != "settings"), len(differences))
    for difference in differences[: first + 1]:
        yield from _difference(difference, lines)
    if differences[first + 1 :]:
        yield Heading("Other differences, which may follow from that")
    for difference in differences[first + 1 :]:
        yield from _difference(difference, lines, level=3)


def _difference(difference: Difference, lines: SourceLines, level: Literal[2, 3] = 2) -> Iterator[Block]:
    yield Heading(difference.title[0].upper() + difference.title[1:], level)
    rows = [
        [
            ranks_in_words(side.ranks).partition(" ")[2],
            side.what,
            "" if side.place is None else place(side.place),
            lines.at(side.place),
        ]
        for side in difference.sides
    ]
    yield table("ranks|what|line|", rows)


def _waits(ranks: Ranks) -> Iterator[Block]:
    if not ranks.waits:
        return
    yield Heading("Not finished")
    yield Bullets([_wait(wait) for wait in ranks.waits])


def _waiting(sentences: Sequence[str]) -> Iterator[Block]:
    for sentence in sentences:
        yield Paragraph(f"{sentence[0].upper()}{sentence[1:]}.", "warning")


def _wait(wait: Wait) -> str:
    text = f"{ranks_in_words(wait.ranks)}: {wait.inside}, since {time_of_day(wait.since_ns)}"
    if wait.place is not None:
        text += f", at {place(wait.place)}"
    if wait.collectives:
        shown = wait.collectives[:_COLLECTIVES_SHOWN]
        rest = len(wait.collectives) - len(shown)
        text += f": {', '.join(shown)}" + (f" and {rest} more" if rest else "")
    return text
