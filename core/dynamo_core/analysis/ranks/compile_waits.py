"""How long ranks waited in collectives while another rank compiled, on one time line for all hosts."""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from operator import attrgetter
from typing import NamedTuple

from ...model import CompileId, Frame, Place, Process
from ...shared.quick_dataclass import dataclass
from ..time.wall import Interval, merged
from ..words import compile_label, first_line, frame_name
from .collectives import SharedCall, SharedCalls, by_number

# Host clocks: how far the clocks of the hosts are apart.
#
# A shared call ends on all ranks at about the same time. So the difference between the ends of the same call
# on two hosts is the difference between their clocks, and the spread of the differences is its uncertainty.

LEAST_CALLS = 3  # with fewer the spread of the ends says nothing
_SHARE = 0.9


@dataclass(frozen=True)
class HostClock:
    """The clock of a host, and so of these ranks on it, compared with that of the host of the lowest rank.

    The clock is `offset_seconds` ahead; nine in ten of the ends of the `calls` that were compared lie within
    `uncertainty_seconds` of that. Both are None where fewer than three calls could be compared: then the
    events of this host cannot be placed on the time line of the others. Ranks on one host share a clock. The
    first host is the reference: offset and uncertainty are 0. `host` is None where it was not recorded.
    """

    host: str | None
    ranks: tuple[int, ...]
    offset_seconds: float | None
    uncertainty_seconds: float | None
    calls: int


def host_clocks(ranks: Mapping[int, Process], calls: Mapping[int, SharedCalls]) -> tuple[HostClock, ...]:
    """The clocks of all hosts, beginning with the host of the lowest rank."""
    hosts: dict[Hashable, list[int]] = {}
    for rank in sorted(calls):
        host = ranks[rank].info.host
        hosts.setdefault(rank if host is None else host, []).append(rank)
    ends = [_ends([calls[rank] for rank in members]) for members in hosts.values()]
    return tuple(
        _clock(ranks[members[0]].info.host, tuple(members), ends[0], own, is_first=not index)
        for index, (members, own) in enumerate(zip(hosts.values(), ends, strict=True))
    )


def _ends(calls: Sequence[SharedCalls]) -> dict[Hashable, int]:
    """When each call ended on a host: on the first of its ranks, as the others may have been held up."""
    found: dict[Hashable, int] = {}
    for each in calls:
        for key, call in by_number(each).items():
            found[key] = min(found.get(key, call.ended_ns), call.ended_ns)
    return found


def _clock(
    host: str | None,
    ranks: tuple[int, ...],
    first: Mapping[Hashable, int],
    own: Mapping[Hashable, int],
    *,
    is_first: bool,
) -> HostClock:
    if is_first:
        return HostClock(host, ranks, 0.0, 0.0, 0)
    apart = [ended - first[key] for key, ended in own.items() if key in first]
    if len(apart) < LEAST_CALLS:
        return HostClock(host, ranks, None, None, len(apart))
    from statistics import median  # with fractions and decimals, which the other reports do not need

    offset = median(apart)
    off = sorted(abs(each - offset) for each in apart)
    return HostClock(host, ranks, offset / 1e9, off[ceil(_SHARE * len(off)) - 1] / 1e9, len(apart))


# Waits: the shared calls that took longer than usual while another rank compiled.

LEAST_SECONDS = 0.01  # shorter waits are not listed: even ranks that do the same differ by so much
_MOST_LOOKED_AT = 100_000  # long calls, times the ranks whose compiles may be the reason


@dataclass(frozen=True)
class TimedCompile:
    """A compile of a frame; `recompile_reason` is None if it is not a recompile."""

    compile_id: str
    frame: str
    place: Place | None
    seconds: float
    recompile_reason: str | None


@dataclass(frozen=True)
class Waiting:
    """Ranks that were in this graph, with this collective at `place`, while another one compiled.

    The seconds are those of the rank that waited least and of the one that waited most.
    """

    ranks: tuple[int, ...]
    graph: int
    collective: str
    place: Place | None
    least_seconds: float
    most_seconds: float


@dataclass(frozen=True)
class CompileWait:
    """A compile of one rank during which others waited: `seconds` of all of them together.

    `after` are recompiles of the same rank between its last shared call and this compile: they delayed the
    rank as well. Where the ranks are on several hosts, the seconds of each are known to within
    `uncertainty_seconds`; None where they share a clock.
    """

    rank: int
    compile: TimedCompile
    began_ns: int
    after: tuple[TimedCompile, ...]
    waiting: tuple[Waiting, ...]
    seconds: float
    uncertainty_seconds: float | None


@dataclass(frozen=True)
class CompileWaits:
    """All compile waits of a job, the costliest first.

    `seconds` is how long the ranks waited in all; time in which a rank waited for two compiles counts once.
    It is known for the `noted_calls`, whose begin and duration were recorded, of the `calls` in which a rank
    could have waited. The `ranks_not_looked_at` are represented by an equivalent rank. Where ranks waited in
    very many calls, the `shorter_calls_left_out` were not looked at either.
    """

    waits: tuple[CompileWait, ...]
    seconds: float
    clocks: tuple[HostClock, ...]
    calls: int
    noted_calls: int
    ranks_not_looked_at: int
    shorter_calls_left_out: int


class _Compile(NamedTuple):
    """A compile of a rank, placed on the common time line."""

    rank: int
    begin: int
    end: int
    timed: TimedCompile


class _Clock(NamedTuple):
    """The clock of a rank: the time line it belongs to, and the offset to subtract to be on that line."""

    host: Hashable
    line: Hashable
    offset_ns: int
    uncertainty_ns: int


class _LongCall(NamedTuple):
    """A call that took longer than usual: it may have waited until `waited_until_ns`, by the rank's clock."""

    rank: int
    call: SharedCall
    waited_until_ns: int


class _Waited(NamedTuple):
    """When a rank waited, in one call, for one compile."""

    rank: int
    call: SharedCall
    interval: Interval
    uncertainty_ns: int | None


def compile_waits(ranks: Mapping[int, Process], calls: Mapping[int, SharedCalls]) -> CompileWaits:
    """Find the compiles that other ranks waited for; ranks represented by an equivalent one are left out."""
    hosts = host_clocks(ranks, calls)
    clocks = dict(_clocks(hosts))
    compiles = sorted(
        (each for rank, process in ranks.items() for each in _compiles(rank, process, clocks[rank])),
        key=attrgetter("begin"),
    )
    found: dict[_Compile, list[_Waited]] = {}
    long_calls, left_out = _longest(calls)
    for compiled, waited in _all_waited(calls, clocks, compiles, long_calls):
        found.setdefault(compiled, []).append(waited)
    recompiles: dict[int, list[_Compile]] = {rank: [] for rank in ranks}
    for each in compiles:
        if each.timed.recompile_reason is not None:
            recompiles[each.rank].append(each)
    waits = [
        _wait(
            compiled,
            waited,
            recompiles[compiled.rank],
            calls[compiled.rank],
            clocks[compiled.rank].offset_ns,
        )
        for compiled, waited in found.items()
    ]
    return CompileWaits(
        tuple(sorted(waits, key=lambda wait: (-wait.seconds, wait.rank, wait.began_ns))),
        _seconds_in_all(waited for group in found.values() for waited in group),
        hosts,
        sum(each.made for each in calls.values()),
        sum(len(each.noted) for each in calls.values()),
        sum(len(process.alike) for process in ranks.values()),
        left_out,
    )


def _clocks(hosts: Sequence[HostClock]) -> Iterator[tuple[int, _Clock]]:
    """The clock of each rank; a host whose offset is not known has a time line of its own."""
    for index, host in enumerate(hosts):
        offset, uncertainty = host.offset_seconds, host.uncertainty_seconds
        known = offset is not None and uncertainty is not None
        line = 0 if known else index
        for rank in host.ranks:
            yield rank, _Clock(index, line, round((offset or 0) * 1e9), round((uncertainty or 0) * 1e9))


def _compiles(rank: int, process: Process, clock: _Clock) -> Iterator[_Compile]:
    reasons = {each.compile_id: each.recompile_reason for each in process.recompiles}
    for frame in process.frames:
        # While another thread compiles, the program may go on.
        if frame.ended_ns is None or frame.seconds is None or frame.thread is not None:
            continue
        end = frame.ended_ns - clock.offset_ns
        if frame.seconds >= LEAST_SECONDS:
            timed = _timed_compile(frame, frame.seconds, reasons)
            yield _Compile(rank, end - round(frame.seconds * 1e9), end, timed)


def _timed_compile(
    frame: Frame, seconds: float, recompile_reasons: Mapping[CompileId | None, str | None]
) -> TimedCompile:
    reason = recompile_reasons.get(frame.compile_id) if frame.compile_id is not None else None
    return TimedCompile(
        compile_label(frame.compile_id),
        frame_name(frame.name, frame.method),
        frame.place,
        seconds,
        None if reason is None else first_line(reason.strip()),
    )


def _longest(calls: Mapping[int, SharedCalls]) -> tuple[list[_LongCall], int]:
    """The calls that took longer than the shortest of their kind, and how many such calls were left out.

    The time of the shortest call is what any call takes without waiting. Of very many calls, the ones that
    exceed it by most are returned.
    """
    least = _shortest(calls)
    found = [
        _LongCall(rank, call, call.ended_ns - least[call.kind])
        for rank, own in calls.items()
        for call in own.noted
        if call.ns - least[call.kind] >= LEAST_SECONDS * 1e9
    ]
    most = _MOST_LOOKED_AT // max(1, len(calls))
    if len(found) > most:
        found.sort(key=lambda each: each.call.began_ns - each.waited_until_ns)
    return found[:most], max(0, len(found) - most)


def _all_waited(
    calls: Mapping[int, SharedCalls],
    clocks: Mapping[int, _Clock],
    compiles: Sequence[_Compile],
    long_calls: Sequence[_LongCall],
) -> Iterator[tuple[_Compile, _Waited]]:
    """Pairs of a compile and a call that waited for it."""
    begins = [each.begin for each in compiles]
    longest = max((each.end - each.begin for each in compiles), default=0)
    numbered = {rank: by_number(each) for rank, each in calls.items()}
    for rank, call, waited_until_ns in long_calls:
        clock = clocks[rank]
        begin, end = call.began_ns - clock.offset_ns, waited_until_ns - clock.offset_ns
        for compiled in compiles[bisect_left(begins, begin - longest) : bisect_left(begins, end)]:
            other = compiled.rank
            if other == rank or clocks[other].line != clock.line or not call.groups & calls[other].groups:
                continue
            same = numbered[other].get((call.kind, call.number))
            arrived = end if same is None else min(end, same.began_ns - clocks[other].offset_ns)
            interval = max(begin, compiled.begin), min(arrived, compiled.end)
            uncertainty = _uncertainty(clock, clocks[other])
            if interval[1] - interval[0] >= max(LEAST_SECONDS * 1e9, uncertainty or 0):
                yield compiled, _Waited(rank, call, interval, uncertainty)


def _shortest(calls: Mapping[int, SharedCalls]) -> dict[Hashable, int]:
    """The duration of the shortest call of each kind on any rank: the last one to come waits for nobody."""
    found: dict[Hashable, int] = {}
    for shared in calls.values():
        for call in shared.noted:
            found[call.kind] = min(found.get(call.kind, call.ns), call.ns)
    return found


def _uncertainty(one: _Clock, other: _Clock) -> int | None:
    return None if one.host == other.host else one.uncertainty_ns + other.uncertainty_ns


def _wait(
    compiled: _Compile,
    waited: Sequence[_Waited],
    recompiles: Sequence[_Compile],
    calls: SharedCalls,
    offset_ns: int,
) -> CompileWait:
    """A compile and what waited for it; `recompiles`, `calls`, `offset_ns` are of the rank that compiled."""
    uncertain = [each.uncertainty_ns for each in waited if each.uncertainty_ns is not None]
    index = bisect_right(calls.noted, compiled.begin + offset_ns, key=attrgetter("began_ns"))
    since = calls.noted[index - 1].ended_ns - offset_ns if index else 0
    after = [each.timed for each in recompiles if since <= each.begin < each.end <= compiled.begin]
    return CompileWait(
        compiled.rank,
        compiled.timed,
        compiled.begin + offset_ns,
        tuple(after),
        tuple(_by_graph(waited)),
        _seconds_in_all(waited),
        max(uncertain) / 1e9 if uncertain else None,
    )


def _by_graph(waited: Sequence[_Waited]) -> Iterator[Waiting]:
    """The ranks that waited, grouped by the graph that they were in, the largest group first."""
    groups: dict[Hashable, list[_Waited]] = {}
    for each in waited:
        groups.setdefault((each.call.graph.number, each.call.kind), []).append(each)
    for group in sorted(groups.values(), key=lambda group: (-len(group), group[0].rank)):
        call = group[0].call
        members = {each.rank for each in group}
        own = [_seconds_in_all(each for each in group if each.rank == rank) for rank in members]
        yield Waiting(
            tuple(sorted({each.rank for each in group})),
            call.graph.number,
            str(call.collective),
            call.collective.place,
            min(own),
            max(own),
        )


def _seconds_in_all(waited: Iterable[_Waited]) -> float:
    """The seconds that all ranks waited; time that a rank waited for several compiles at once counts once."""
    by_rank: dict[int, list[Interval]] = {}
    for each in waited:
        by_rank.setdefault(each.rank, []).append(each.interval)
    return sum(end - begin for own in by_rank.values() for begin, end in merged(own)) / 1e9
