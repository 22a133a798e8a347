"""One time line for all ranks: how far their hosts' clocks are apart, by what the ranks pass together.

A call in which ranks wait for each other ends on all of them at about the same time. What the ends of the
same calls differ by, on two hosts, is what their clocks differ by; how evenly they do says how well that is
known.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import ceil
from statistics import median

from ...model import Process
from ...shared.quick_dataclass import dataclass
from .shared_calls import SharedCalls, by_number

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
