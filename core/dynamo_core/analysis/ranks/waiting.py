"""Who is inside of what when the recording ends, and who waits for whom.

It works on what lies on disk while a job hangs, and after it was killed. A recording does not say which
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
from .members import Inside, every, inside_of, named, ordinal

_DISTRIBUTED = "torch/distributed/"


@dataclass(frozen=True)
class Wait:
    """Ranks that are inside of the same, the first since `since_ns` (nanoseconds since the epoch).

    `collectives` are those of the graph that is called, in order; None where they are not known.
    """

    ranks: tuple[int, ...]
    inside: str
    since_ns: int
    place: Place | None
    collectives: tuple[str, ...] | None


class _At(NamedTuple):
    inside: Inside
    words: str
    place: Place | None
    collectives: list[Collective] | None


def waits_of(ranks: Mapping[int, Process]) -> tuple[Wait, ...]:
    """What the ranks are inside of, those that are inside of the same together."""
    alike: dict[object, list[tuple[int, _At]]] = {}
    for rank, at in _inside(ranks).items():
        alike.setdefault((at.words, at.place, _keys(at)), []).append((rank, at))
    return tuple(
        Wait(
            every(ranks, (rank for rank, _ in group)),
            group[0][1].words,
            min(since for rank, at in group for since in _all_since(ranks[rank], at)),
            group[0][1].place,
            None if group[0][1].collectives is None else tuple(map(str, group[0][1].collectives)),
        )
        for group in alike.values()
    )


def _all_since(process: Process, at: _At) -> Iterator[int]:
    yield at.inside.since_ns
    yield from (each.running_since_ns for each in process.alike if each.running_since_ns is not None)


def who_waits(
    ranks: Mapping[int, Process], *, is_seen_outside: bool = False, is_over: bool = False
) -> tuple[str, ...]:
    """Sentences on who cannot go on before another rank does; none where that cannot be told.

    `is_seen_outside` is where the flight recorder shows which call, in no graph, differs. Where the run
    `is_over`, a rank without a last record goes on no more: then it is said which one the others lost.
    """
    inside = _inside(ranks)
    in_collectives = {rank: at for rank, at in inside.items() if at.collectives}
    raised = {rank: graph for rank, process in ranks.items() if (graph := _raised(process)) is not None}
    lost = tuple(_lost(ranks, in_collectives, raised)) if is_over else ()
    failed = {rank: process for rank, process in ranks.items() if process.end and process.end.raised}
    in_calls = {rank: graph for rank, graph in raised.items() if rank in failed}
    # Where one rank ends, calls of graphs with collectives fail on the others, and a launcher kills the rest.
    first = tuple(_exceptions({rank: each for rank, each in failed.items() if rank not in in_calls}))
    others = tuple(_exceptions({rank: failed[rank] for rank in in_calls}))
    if lost:
        return (*first, *(_unlike(ranks, in_collectives) if in_collectives else ()), *lost, *others)
    errors = (*first, *([_calls_in_words(in_calls)] if first and in_calls else ()), *others)
    if not in_collectives:
        return errors if is_seen_outside else (*errors, *_outside_of_graphs(ranks, inside, is_over=is_over))
    return (*_sentences(ranks, inside, in_collectives), *errors)


def _exceptions(ranks: Mapping[int, Process]) -> Iterator[str]:
    """Those that ended ranks; of a rank that another stands for, that is not known."""
    alike: dict[str, list[int]] = {}
    for rank, process in ranks.items():
        assert process.end is not None
        at = process.end.raised_at
        where = "" if at is None else f" at {place(at)} in {process.end.raised_in}"
        alike.setdefault(f"{process.end.raised}{where}", []).append(rank)
    for error, some in alike.items():
        yield f"{named(some)} ended in an exception, {error}"


def _calls_in_words(raised: Mapping[int, Graph]) -> str:
    """The calls of graphs with collectives that ended in errors, by rank."""
    by_graph: dict[str, list[int]] = {}
    for rank, graph in raised.items():
        collective = (collectives_of(graph) or [])[0]
        which = f"graph {graph.number} ({collective} at {place(collective.place)})"
        by_graph.setdefault(which, []).append(rank)
    return "; ".join(
        f"a call of {which} ended in an error on {named(found)}" for which, found in by_graph.items()
    )


def _lost(
    ranks: Mapping[int, Process], waiting: Mapping[int, _At], raised: Mapping[int, Graph]
) -> Iterator[str]:
    """Collectives that ended in errors on some ranks, and the ranks that ended without one before their end.

    A rank that another stands for is left out: whether it met an error is not known.
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
        yield f"{error}; {named(elsewhere)} {were} in no such call, and {were} killed or called os._exit"
    else:
        inside = "; ".join(dict.fromkeys(waiting[rank].words for rank in lost))
        yield f"{error}; {named(lost)} {were} killed, or called os._exit, inside of {inside}"


def _raised(process: Process) -> Graph | None:
    """The last graph with collectives of which a call ended in an error."""
    found = [graph for graph in process.graphs if graph.times is not None and graph.times.raised]
    return next((graph for graph in reversed(found) if collectives_of(graph)), None)


def _outside_of_graphs(
    ranks: Mapping[int, Process], inside: Mapping[int, _At], *, is_over: bool
) -> Iterator[str]:
    """A job may hang in collectives that no graph holds: that nothing differs is no all-clear then."""
    found = [rank for rank, each in ranks.items() if each.lacks_last_record and rank not in inside]
    told: dict[str, list[int]] = {}
    unknown: list[int] = []
    for rank in found:
        stopped = stopped_words(ranks[rank])
        (unknown if stopped is None else told.setdefault(stopped, [])).append(rank)
    for stopped, some in told.items():
        these = every(ranks, some)
        yield f"{named(these)} {'was' if len(these) == 1 else 'were'} {stopped}, outside of compiled graphs"
    innermost = (ranks[rank].stopped_at[-1] for some in told.values() for rank in some)
    if len(told) > 1 and any(_DISTRIBUTED in frame.place.file for frame in innermost):
        yield (
            "a collective waits until every rank has called it: look for what led them to different lines, a "
            "condition on what only one rank has, for instance"
        )
    if unknown:
        all_found = every(ranks, unknown)
        were = "was" if len(all_found) == 1 else "were"
        line = (
            "at which line is not known, as no Ctrl-C and no `kill` (SIGTERM) came before the end"
            if is_over
            else "at which line, each rank leaves behind when Ctrl-C or `kill` (SIGTERM) ends it"
        )
        yield f"{named(all_found)} {were} in no compiled graph and no compile when the recording ends; {line}"


def _sentences(
    ranks: Mapping[int, Process], inside: Mapping[int, _At], waiting: Mapping[int, _At]
) -> Iterator[str]:
    yield from _unlike(ranks, waiting)
    all_waiting = every(ranks, waiting)
    who = named(all_waiting)
    wait = "waits" if len(all_waiting) == 1 else "wait"
    compiling = [rank for rank, at in inside.items() if at.inside.compiling is not None]
    if compiling:
        yield f"{who} {wait} in collectives for {named(every(ranks, compiling))}, still compiling"
    ended = [rank for rank, process in ranks.items() if process.end is not None]
    if ended:
        yield f"{who} {wait} in collectives for {named(every(ranks, ended))}, whose program has ended"
    elsewhere = [rank for rank in ranks if rank not in inside and rank not in ended]
    if elsewhere:
        others = every(ranks, elsewhere)
        were, are = ("was", "is") if len(others) == 1 else ("were", "are")
        absent = f"{named(others)} {were} killed, or {are} in no graph and no compile"
        yield f"{who} {wait} in collectives; {absent}"


def _unlike(ranks: Mapping[int, Process], waiting: Mapping[int, _At]) -> Iterator[str]:
    """Ranks that are inside of graphs with other collectives than the first of them."""
    (first, at_first), *others = waiting.items()
    alike = [first, *(rank for rank, at in others if _keys(at) == _keys(at_first))]
    for _, at in others:
        unlike = _first_unlike(at_first.collectives or [], at.collectives or [])
        if unlike is not None:
            index, mine, its = unlike
            these = named(every(ranks, alike))
            those = named(every(ranks, (each for each in waiting if _keys(waiting[each]) == _keys(at))))
            yield (
                f"{these} and {those} wait for each other: the {ordinal(index)} collective of the graph in "
                f"which they are is {mine} on {these}, and {its} on {those}"
            )
            return


def _first_unlike(mine: Sequence[Collective], its: Sequence[Collective]) -> tuple[int, str, str] | None:
    for index in range(max(len(mine), len(its))):
        one, other = (side[index] if index < len(side) else None for side in (mine, its))
        if (one and one.key) != (other and other.key):
            return index, str(one or "none"), str(other or "none")
    return None


def _inside(ranks: Mapping[int, Process]) -> dict[int, _At]:
    found = {rank: inside_of(process) for rank, process in ranks.items()}
    return {rank: _described(inside) for rank, inside in found.items() if inside is not None}


def _described(inside: Inside) -> _At:
    if inside.compiling is not None:
        return _At(inside, f"compiling {compiling_words(inside.compiling)}", inside.compiling.place, None)
    graph = inside.graph
    assert graph is not None  # it is one or the other
    collectives = collectives_of(graph)
    what = f"graph {graph.number} {compile_label(graph.compile_id)} of {graph_frame(graph)}"
    if inside.is_backward:
        what = f"the backward of {what}"
    elif collectives is not None:
        what += f", {number(len(collectives), 'collective')}"
    place = collectives[0].place if collectives else graph.frame_place
    return _At(inside, what, place, collectives)


def _keys(at: _At) -> tuple[object, ...]:
    return tuple(each.key for each in at.collectives or ())


# On which rank what all make together is the shortest, where no compile is why: it may have come last.
#
# A call in which ranks wait for each other ends on all of them together: who came last has the shortest one.
# So has a rank that had less to do in the graph before that, and a call does not tell the two apart.


LEAST_SECONDS = 0.1  # in all; less comes of chance


@dataclass(frozen=True)
class LateRank:
    """A rank with the shortest call in `late_calls` of `calls` of a graph with this collective at `place`.

    The calls are those that several ranks noted. Those of the others, `waiting`, took `seconds` longer in
    all, beyond what the rank was compiling before them; call `longest_number` the longest, by
    `longest_seconds`.
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
    """The one that was waited for longest first."""
    same: dict[Hashable, dict[int, SharedCall]] = {}
    for rank, own in calls.items():
        for key, call in by_number(own).items():
            same.setdefault(key, {})[rank] = call
    compared: dict[Hashable, int] = {}
    found: dict[Hashable, list[_Late]] = {}
    before = {rank: _CompilingBefore(compile_intervals(ranks[rank]), own) for rank, own in calls.items()}
    for together in same.values():
        if len(together) < 2:
            continue
        last = min(together, key=lambda rank: (together[rank].ns, rank))
        kind = together[last].kind
        compared[kind] = compared.get(kind, 0) + 1
        spared = before[last].of(together[last])
        waited = {
            rank: call.ns - together[last].ns - spared
            for rank, call in together.items()
            if call.ns - together[last].ns > spared
        }
        if waited:
            found.setdefault((last, kind), []).append(_Late(last, together[last], waited))
    late = [_late_rank(each, compared[each[0].call.kind]) for each in found.values()]
    return tuple(
        sorted(
            (each for each in late if each.seconds >= LEAST_SECONDS),
            key=lambda each: (-each.seconds, each.rank),
        )
    )


class _CompilingBefore:
    """How long a rank was compiling since the call before one that it made with others."""

    def __init__(self, compiling: Sequence[Interval], calls: SharedCalls) -> None:
        self._ends = sorted(each.ended_ns for each in calls.noted)
        self._compiling = sorted(compiling)
        self._begins = [begin for begin, _ in self._compiling]
        self._longest = max((end - begin for begin, end in compiling), default=0)

    def of(self, call: SharedCall) -> int:
        """The nanoseconds in which it compiled between the call before and this one."""
        at = bisect_right(self._ends, call.began_ns)
        since = self._ends[at - 1] if at else 0
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
