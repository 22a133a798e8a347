"""What each rank is inside of when the recording ends, which ranks wait for which, and which ranks are late.

This works on the files of a job that hangs, and of one that was killed. A recording does not say which
collective of a graph a rank is at, only that it is inside the graph.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...model import Graph, Place, Process
from ...shared.quick_dataclass import dataclass
from ..time.wall import Interval, compile_intervals
from ..verdict import compiling_words, stopped_words
from ..words import compile_label, graph_frame, number, place
from .collectives import Collective, SharedCall, SharedCalls, by_number, collectives_of
from .members import Inside, inside_of, ordinal, ranks_in_words, with_equivalents

_DISTRIBUTED = "torch/distributed/"


@dataclass(frozen=True)
class Wait:
    """Ranks that are inside of the same call or compile, the first since `since_ns` (since the epoch).

    `collectives` are the collectives of the graph that is called, in order; None where they are not known.
    """

    ranks: tuple[int, ...]
    inside: str
    since_ns: int
    place: Place | None
    collectives: tuple[str, ...] | None


class _Activity(NamedTuple):
    """What a rank is inside of, with how it is described."""

    inside: Inside
    words: str
    place: Place | None
    collectives: list[Collective] | None


def waits_of(ranks: Mapping[int, Process]) -> tuple[Wait, ...]:
    """What the ranks are inside of: the ranks grouped by the call or compile."""
    groups: dict[object, list[tuple[int, _Activity]]] = {}
    for rank, activity in _activities(ranks).items():
        groups.setdefault((activity.words, activity.place, _keys(activity)), []).append((rank, activity))
    return tuple(
        Wait(
            with_equivalents(ranks, (rank for rank, _ in group)),
            group[0][1].words,
            min(since for rank, activity in group for since in _all_since(ranks[rank], activity)),
            group[0][1].place,
            None if group[0][1].collectives is None else tuple(map(str, group[0][1].collectives)),
        )
        for group in groups.values()
    )


def _all_since(process: Process, activity: _Activity) -> Iterator[int]:
    """When the process and its equivalent ones began what they are inside of."""
    yield activity.inside.since_ns
    yield from (each.running_since_ns for each in process.alike if each.running_since_ns is not None)


def who_waits(
    ranks: Mapping[int, Process], *, is_seen_outside: bool = False, is_over: bool = False
) -> tuple[str, ...]:
    """Sentences on which ranks cannot go on before another rank does; none where that is not known.

    `is_seen_outside` says that the flight recorder shows which call outside of graphs differs. If the run
    `is_over`, a rank without a last record was lost, and the sentences say which one.
    """
    inside = _activities(ranks)
    in_collectives = {rank: activity for rank, activity in inside.items() if activity.collectives}
    raised = {rank: graph for rank, process in ranks.items() if (graph := _raised(process)) is not None}
    lost = tuple(_lost(ranks, in_collectives, raised)) if is_over else ()
    failed = {rank: process for rank, process in ranks.items() if (end := process.runtime.end) and end.raised}
    in_calls = {rank: graph for rank, graph in raised.items() if rank in failed}
    # Where one rank ends, calls of graphs with collectives fail on the others, and a launcher kills the rest.
    first = tuple(_exceptions({rank: each for rank, each in failed.items() if rank not in in_calls}))
    others = tuple(_exceptions({rank: failed[rank] for rank in in_calls}))
    if lost:
        unlike = _different_collectives(ranks, in_collectives) if in_collectives else ()
        return (*first, *unlike, *lost, *others)
    errors = (*first, *([_calls_in_words(in_calls)] if first and in_calls else ()), *others)
    if not in_collectives:
        return errors if is_seen_outside else (*errors, *_outside_of_graphs(ranks, inside, is_over=is_over))
    return (*_waiting_in_collectives(ranks, inside, in_collectives), *errors)


def _exceptions(ranks: Mapping[int, Process]) -> Iterator[str]:
    """The exceptions that ended ranks; not known for a rank that is represented by an equivalent one."""
    by_error: dict[str, list[int]] = {}
    for rank, process in ranks.items():
        assert process.runtime.end is not None
        at = process.raised_at
        where = "" if at is None else f" at {place(at)} in {process.runtime.end.raised_in}"
        by_error.setdefault(f"{process.runtime.end.raised}{where}", []).append(rank)
    for error, some in by_error.items():
        yield f"{ranks_in_words(some)} ended in an exception, {error}"


def _calls_in_words(raised: Mapping[int, Graph]) -> str:
    """The calls of graphs with collectives that ended in errors, by rank."""
    by_graph: dict[str, list[int]] = {}
    for rank, graph in raised.items():
        collective = (collectives_of(graph) or [])[0]
        which = f"graph {graph.number} ({collective} at {place(collective.place)})"
        by_graph.setdefault(which, []).append(rank)
    return "; ".join(
        f"a call of {which} ended in an error on {ranks_in_words(found)}" for which, found in by_graph.items()
    )


def _lost(
    ranks: Mapping[int, Process], waiting: Mapping[int, _Activity], raised: Mapping[int, Graph]
) -> Iterator[str]:
    """Collectives that ended in errors on some ranks, and the ranks that were lost without such an error.

    A rank with equivalents is left out: whether one of those had an error is not known.
    """
    lost = [
        rank
        for rank, process in ranks.items()
        if rank not in raised and process.lacks_last_record and not process.alike
    ]
    if not raised or not lost:
        return
    error = _calls_in_words(raised)
    elsewhere = [rank for rank in lost if rank not in waiting]
    were = "were" if len(elsewhere or lost) > 1 else "was"
    if elsewhere:
        who = ranks_in_words(elsewhere)
        yield f"{error}; {who} {were} in no such call, and {were} killed or called os._exit"
    else:
        inside = "; ".join(dict.fromkeys(waiting[rank].words for rank in lost))
        yield f"{error}; {ranks_in_words(lost)} {were} killed, or called os._exit, inside of {inside}"


def _raised(process: Process) -> Graph | None:
    """The last graph with collectives that had a call that ended in an error."""
    found = [graph for graph in process.graphs if graph.times is not None and graph.times.raised]
    return next((graph for graph in reversed(found) if collectives_of(graph)), None)


def _outside_of_graphs(
    ranks: Mapping[int, Process], inside: Mapping[int, _Activity], *, is_over: bool
) -> Iterator[str]:
    """Where ranks were that did not end, outside of graphs: a job may hang in collectives of eager code."""
    found = [rank for rank, each in ranks.items() if each.lacks_last_record and rank not in inside]
    by_line: dict[str, list[int]] = {}
    unknown: list[int] = []
    for rank in found:
        stopped = stopped_words(ranks[rank])
        (unknown if stopped is None else by_line.setdefault(stopped, [])).append(rank)
    for stopped, some in by_line.items():
        these = with_equivalents(ranks, some)
        were = "was" if len(these) == 1 else "were"
        yield f"{ranks_in_words(these)} {were} {stopped}, outside of compiled graphs"
    innermost = (ranks[rank].runtime.stopped_at[-1] for some in by_line.values() for rank in some)
    if len(by_line) > 1 and any(_DISTRIBUTED in frame.place.file for frame in innermost):
        yield (
            "a collective waits until every rank has called it: look for what led them to different lines, a "
            "condition on what only one rank has, for instance"
        )
    if unknown:
        these = with_equivalents(ranks, unknown)
        who = ranks_in_words(these)
        were = "was" if len(these) == 1 else "were"
        line = (
            "when the recording ends; at which line is not known, as no Ctrl-C and no `kill` (SIGTERM) came "
            "before the end"
            if is_over
            else "at the last record; a rank that Ctrl-C or `kill` (SIGTERM) ends says at which line it is"
        )
        yield f"{who} {were} in no compiled graph and no compile {line}"


def _waiting_in_collectives(
    ranks: Mapping[int, Process], inside: Mapping[int, _Activity], waiting: Mapping[int, _Activity]
) -> Iterator[str]:
    yield from _different_collectives(ranks, waiting)
    all_waiting = with_equivalents(ranks, waiting)
    who = ranks_in_words(all_waiting)
    wait = "waits" if len(all_waiting) == 1 else "wait"
    compiling = [rank for rank, activity in inside.items() if activity.inside.compiling is not None]
    if compiling:
        others = ranks_in_words(with_equivalents(ranks, compiling))
        yield f"{who} {wait} in collectives for {others}, still compiling"
    ended = [rank for rank, process in ranks.items() if process.runtime.end is not None]
    if ended:
        others = ranks_in_words(with_equivalents(ranks, ended))
        yield f"{who} {wait} in collectives for {others}, whose program has ended"
    elsewhere = [rank for rank in ranks if rank not in inside and rank not in ended]
    if elsewhere:
        these = with_equivalents(ranks, elsewhere)
        were, are = ("was", "is") if len(these) == 1 else ("were", "are")
        absent = f"{ranks_in_words(these)} {were} killed, or {are} in no graph and no compile"
        yield f"{who} {wait} in collectives; {absent}"


def _different_collectives(ranks: Mapping[int, Process], waiting: Mapping[int, _Activity]) -> Iterator[str]:
    """The first ranks that are inside of a graph with other collectives than the graph of the lowest rank."""
    (first, first_activity), *others = waiting.items()
    same = [first, *(rank for rank, activity in others if _keys(activity) == _keys(first_activity))]
    for _, activity in others:
        difference = _first_difference(first_activity.collectives or [], activity.collectives or [])
        if difference is not None:
            index, on_first, on_other = difference
            with_other = [rank for rank in waiting if _keys(waiting[rank]) == _keys(activity)]
            these, those = (
                ranks_in_words(with_equivalents(ranks, same)),
                ranks_in_words(with_equivalents(ranks, with_other)),
            )
            yield (
                f"{these} and {those} wait for each other: the {ordinal(index)} collective of the graph in "
                f"which they are is {on_first} on {these}, and {on_other} on {those}"
            )
            return


def _first_difference(
    first: Sequence[Collective], second: Sequence[Collective]
) -> tuple[int, str, str] | None:
    """The first index at which two graphs have different collectives, and which ones."""
    for index in range(max(len(first), len(second))):
        one, other = (side[index] if index < len(side) else None for side in (first, second))
        if (one and one.key) != (other and other.key):
            return index, str(one or "none"), str(other or "none")
    return None


def _activities(ranks: Mapping[int, Process]) -> dict[int, _Activity]:
    found = {rank: inside_of(process) for rank, process in ranks.items()}
    return {rank: _activity(inside) for rank, inside in found.items() if inside is not None}


def _activity(inside: Inside) -> _Activity:
    if inside.compiling is not None:
        return _Activity(
            inside, f"compiling {compiling_words(inside.compiling)}", inside.compiling.place, None
        )
    graph = inside.graph
    assert graph is not None  # either a compile or a call of a graph
    collectives = collectives_of(graph)
    what = f"graph {graph.number} {compile_label(graph.compile_id)} of {graph_frame(graph)}"
    if inside.is_backward:
        what = f"the backward of {what}"
    elif collectives is not None:
        what += f", {number(len(collectives), 'collective')}"
    place = collectives[0].place if collectives else graph.frame_place
    return _Activity(inside, what, place, collectives)


def _keys(activity: _Activity) -> tuple[object, ...]:
    return tuple(each.key for each in activity.collectives or ())


# Late ranks: the rank with the shortest shared calls, where no compile is the reason.
#
# A shared call ends on all ranks together, so the rank that came last has the shortest one. A rank that had
# less to do in the graph before the collective has a short call too; the two cases cannot be distinguished.

LEAST_SECONDS = 0.1  # in all; less may be chance


@dataclass(frozen=True)
class LateRank:
    """A rank with the shortest call in `late_calls` of `calls` of a graph with this collective at `place`.

    The calls are those that several ranks recorded. The calls of the other ranks, `waiting`, took `seconds`
    longer in all, beyond the time in which the late rank was compiling before them. The largest difference is
    `longest_seconds`, in call `longest_number`.
    """

    rank: int
    graph: int
    collective: str
    place: Place | None
    late_calls: int
    calls: int
    waiting: tuple[int, ...]
    seconds: float
    longest_number: int
    longest_seconds: float


class _Late(NamedTuple):
    """One call to which a rank came last, and for how many nanoseconds each other one waited."""

    rank: int
    call: SharedCall
    waited: Mapping[int, int]


def late_ranks(ranks: Mapping[int, Process], calls: Mapping[int, SharedCalls]) -> tuple[LateRank, ...]:
    """The late ranks, the one that the others waited for longest first."""
    by_key: dict[Hashable, dict[int, SharedCall]] = {}
    for rank, own in calls.items():
        for key, call in by_number(own).items():
            by_key.setdefault(key, {})[rank] = call
    compared: dict[Hashable, int] = {}
    found: dict[Hashable, list[_Late]] = {}
    before = {rank: _CompilingBefore(compile_intervals(ranks[rank]), own) for rank, own in calls.items()}
    for by_rank in by_key.values():
        if len(by_rank) < 2:
            continue
        last = min(by_rank, key=lambda rank: (by_rank[rank].ns, rank))
        kind = by_rank[last].kind
        compared[kind] = compared.get(kind, 0) + 1
        compiling = before[last].nanoseconds(by_rank[last])
        waited = {
            rank: call.ns - by_rank[last].ns - compiling
            for rank, call in by_rank.items()
            if call.ns - by_rank[last].ns > compiling
        }
        if waited:
            found.setdefault((last, kind), []).append(_Late(last, by_rank[last], waited))
    late = [_late_rank(each, compared[each[0].call.kind]) for each in found.values()]
    return tuple(
        sorted(
            (each for each in late if each.seconds >= LEAST_SECONDS),
            key=lambda each: (-each.seconds, each.rank),
        )
    )


class _CompilingBefore:
    """How long a rank was compiling between a shared call and the one before it."""

    def __init__(self, compiling: Sequence[Interval], calls: SharedCalls) -> None:
        self._ends = sorted(each.ended_ns for each in calls.noted)
        self._compiling = sorted(compiling)
        self._begins = [begin for begin, _ in self._compiling]
        self._longest = max((end - begin for begin, end in compiling), default=0)

    def nanoseconds(self, call: SharedCall) -> int:
        """The nanoseconds of compiling between the call before this one and this one."""
        index = bisect_right(self._ends, call.began_ns)
        since = self._ends[index - 1] if index else 0
        first = bisect_left(self._begins, since - self._longest)
        last = bisect_left(self._begins, call.began_ns)
        return sum(
            max(0, min(end, call.began_ns) - max(begin, since)) for begin, end in self._compiling[first:last]
        )


def _late_rank(late: Sequence[_Late], calls: int) -> LateRank:
    longest = max(late, key=lambda each: max(each.waited.values()))
    call = longest.call
    return LateRank(
        longest.rank,
        call.graph.number,
        str(call.collective),
        call.collective.place,
        len(late),
        calls,
        tuple(sorted({rank for each in late for rank in each.waited})),
        sum(sum(each.waited.values()) for each in late) / 1e9,
        call.number or 0,
        max(longest.waited.values()) / 1e9,
    )
