"""What compiling on one rank cost the others, which were in a collective meanwhile, along one time line."""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from operator import attrgetter
from statistics import median
from typing import NamedTuple

from ...model import CompileId, Frame, Place, Process
from ...shared.quick_dataclass import dataclass
from ..time.wall import Interval, merged
from ..words import compile_label, first_line, frame_name
from .collectives import SharedCall, SharedCalls, by_number

# One time line for all ranks: how far their hosts' clocks are apart, by what the ranks pass together.
#
# A call in which ranks wait for each other ends on all of them at about the same time. What the ends of the
# same calls differ by, on two hosts, is what their clocks differ by; how evenly they do says how well that is
# known.


LEAST_CALLS = 3  # of fewer, nobody can say how evenly they end
_SHARE = 0.9


@dataclass(frozen=True)
class HostClock:
    """The clock of a host, and of these ranks on it, beside that of the host of the lowest rank.

    It is `offset_seconds` ahead; nine in ten of the ends of the `calls` that were compared lie within
    `uncertainty_seconds` of that. Both are None where fewer than three calls could be compared: then what
    happened here has no place on the time line of the others. Ranks on one host share a clock, and the first
    host has its own: no offset, no uncertainty. `host` is None where it was not recorded.
    """

    host: str | None
    ranks: tuple[int, ...]
    offset_seconds: float | None
    uncertainty_seconds: float | None
    calls: int


def host_clocks(ranks: Mapping[int, Process], calls: Mapping[int, SharedCalls]) -> tuple[HostClock, ...]:
    """One for each host, that of the lowest rank first."""
    hosts: dict[Hashable, list[int]] = {}
    for rank in sorted(calls):
        host = ranks[rank].info.host
        hosts.setdefault(rank if host is None else host, []).append(rank)
    ends = [_ends([calls[rank] for rank in members]) for members in hosts.values()]
    return tuple(
        _clock(ranks[members[0]].info.host, tuple(members), ends[0], own, is_first=not at)
        for at, (members, own) in enumerate(zip(hosts.values(), ends, strict=True))
    )


def _ends(calls: Sequence[SharedCalls]) -> dict[Hashable, int]:
    """When each call ended on a host: what keeps a rank longer comes after the others are through."""
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
    offset = median(apart)
    off = sorted(abs(each - offset) for each in apart)
    return HostClock(host, ranks, offset / 1e9, off[ceil(_SHARE * len(off)) - 1] / 1e9, len(apart))


# What compiling on one rank cost the others, which were in a collective meanwhile, along one time line.


LEAST_SECONDS = 0.01  # what is shorter is not listed: so much, ranks that do the same are apart
_MOST_LOOKED_AT = 100_000  # calls that took long, times ranks whose compiles may be why


@dataclass(frozen=True)
class TimedCompile:
    """A compile of a frame; `recompile_reason` is None where it was not compiled before."""

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

    `after` are recompiles of the same rank between the last such call that it made and this compile: they
    kept it as well. Where the ranks are on several hosts, the seconds of each are known to within
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
    """All of these, the costliest first.

    `seconds` is what the ranks waited in all; what one waited for two at once counts once. It is of the
    `noted_calls` of which begin and duration were recorded, of `calls` in which a rank could have waited.
    Ranks for which another one stands were not looked at, nor, where ranks waited in very many
    calls, the `shorter_calls_left_out`.
    """

    waits: tuple[CompileWait, ...]
    seconds: float
    clocks: tuple[HostClock, ...]
    calls: int
    noted_calls: int
    ranks_not_looked_at: int
    shorter_calls_left_out: int


class _Compile(NamedTuple):
    """A compile on the time line."""

    rank: int
    begin: int
    end: int
    timed: TimedCompile


class _Clock(NamedTuple):
    """A rank's: which line its times are on, and what to take from them to be on it."""

    host: Hashable
    line: Hashable
    offset_ns: int
    uncertainty_ns: int


class _LongCall(NamedTuple):
    """A call of a rank, by its clock, and until when it took no longer for what it does itself."""

    rank: int
    call: SharedCall
    waited_until_ns: int


class _Waited(NamedTuple):
    """How long a rank waited, in one call, for one compile."""

    rank: int
    call: SharedCall
    interval: Interval
    uncertainty_ns: int | None


def compile_waits(ranks: Mapping[int, Process], calls: Mapping[int, SharedCalls]) -> CompileWaits:
    """What is known of it; nothing is looked at in ranks for which another stands."""
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
        _in_all(waited for each in found.values() for waited in each),
        hosts,
        sum(each.made for each in calls.values()),
        sum(len(each.noted) for each in calls.values()),
        sum(len(process.alike) for process in ranks.values()),
        left_out,
    )


def _clocks(hosts: Sequence[HostClock]) -> Iterator[tuple[int, _Clock]]:
    """A host whose clock is beside no other has a line of its own."""
    for at, host in enumerate(hosts):
        offset, uncertainty = host.offset_seconds, host.uncertainty_seconds
        known = offset is not None and uncertainty is not None
        line = 0 if known else at
        for rank in host.ranks:
            yield rank, _Clock(at, line, round((offset or 0) * 1e9), round((uncertainty or 0) * 1e9))


def _compiles(rank: int, process: Process, clock: _Clock) -> Iterator[_Compile]:
    again = {each.compile_id: each.recompile_reason for each in process.recompiles}
    for frame in process.frames:
        # Beside one in another thread, the program may go on.
        if frame.ended_ns is None or frame.seconds is None or frame.thread is not None:
            continue
        end = frame.ended_ns - clock.offset_ns
        if frame.seconds >= LEAST_SECONDS:
            yield _Compile(rank, end - round(frame.seconds * 1e9), end, _timed(frame, frame.seconds, again))


def _timed(frame: Frame, seconds: float, again: Mapping[CompileId | None, str | None]) -> TimedCompile:
    reason = again.get(frame.compile_id) if frame.compile_id is not None else None
    return TimedCompile(
        compile_label(frame.compile_id),
        frame_name(frame.name, frame.method),
        frame.place,
        seconds,
        None if reason is None else first_line(reason.strip()),
    )


def _longest(calls: Mapping[int, SharedCalls]) -> tuple[list[_LongCall], int]:
    """The calls that took longer than they need, those by most if they are very many; how many others did.

    As long as a call takes where nobody is waited for, it would have taken anyway.
    """
    least = _least(calls)
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
    """Each compile with each call that waited for it."""
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
            came = end if same is None else min(end, same.began_ns - clocks[other].offset_ns)
            interval = max(begin, compiled.begin), min(came, compiled.end)
            uncertainty = _between(clock, clocks[other])
            if interval[1] - interval[0] >= max(LEAST_SECONDS * 1e9, uncertainty or 0):
                yield compiled, _Waited(rank, call, interval, uncertainty)


def _least(calls: Mapping[int, SharedCalls]) -> dict[Hashable, int]:
    """The shortest call of each kind on any rank: the one that came last waited for nobody."""
    found: dict[Hashable, int] = {}
    for each in calls.values():
        for call in each.noted:
            found[call.kind] = min(found.get(call.kind, call.ns), call.ns)
    return found


def _between(one: _Clock, other: _Clock) -> int | None:
    return None if one.host == other.host else one.uncertainty_ns + other.uncertainty_ns


def _wait(
    compiled: _Compile,
    waited: Sequence[_Waited],
    recompiles: Sequence[_Compile],
    calls: SharedCalls,
    offset_ns: int,
) -> CompileWait:
    """`recompiles`, `calls` and `offset_ns` are those of the rank that compiled."""
    uncertain = [each.uncertainty_ns for each in waited if each.uncertainty_ns is not None]
    at = bisect_right(calls.noted, compiled.begin + offset_ns, key=attrgetter("began_ns"))
    since = calls.noted[at - 1].ended_ns - offset_ns if at else 0
    after = [each.timed for each in recompiles if since <= each.begin < each.end <= compiled.begin]
    return CompileWait(
        compiled.rank,
        compiled.timed,
        compiled.begin + offset_ns,
        tuple(after),
        tuple(_together(waited)),
        _in_all(waited),
        max(uncertain) / 1e9 if uncertain else None,
    )


def _together(waited: Sequence[_Waited]) -> Iterator[Waiting]:
    """Those that were in the same graph are one, the most ranks first."""
    alike: dict[Hashable, list[_Waited]] = {}
    for each in waited:
        alike.setdefault((each.call.graph.number, each.call.kind), []).append(each)
    for group in sorted(alike.values(), key=lambda group: (-len(group), group[0].rank)):
        call = group[0].call
        own = [_in_all(each for each in group if each.rank == rank) for rank in {each.rank for each in group}]
        yield Waiting(
            tuple(sorted({each.rank for each in group})),
            call.graph.number,
            str(call.collective),
            call.collective.place,
            min(own),
            max(own),
        )


def _in_all(waited: Iterable[_Waited]) -> float:
    """Seconds of all ranks; what one waited for several at once counts once."""
    by_rank: dict[int, list[Interval]] = {}
    for each in waited:
        by_rank.setdefault(each.rank, []).append(each.interval)
    return sum(end - begin for own in by_rank.values() for begin, end in merged(own)) / 1e9
