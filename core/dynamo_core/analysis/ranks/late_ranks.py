"""On which rank what all make together is the shortest, where no compile is why: it may have come last.

A call in which ranks wait for each other ends on all of them together: who came last has the shortest one. So
has a rank that had less to do in the graph before that, and a call does not tell the two apart.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from ...model import Place, Process
from ...shared.quick_dataclass import dataclass
from ..time.wall import Interval, compile_intervals
from .shared_calls import SharedCall, SharedCalls, by_number

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
