"""Put slices of time on tracks: on one, no two overlap unless one is part of the other."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from dynamo_core.model import Place
from dynamo_core.shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Slice:
    """Something that went on for a time, from and to nanoseconds since the epoch.

    `function` is what it is one time of, the same for every call of a graph; `details` say more.
    """

    name: str
    begin_ns: int
    end_ns: int
    function: str
    place: Place | None = None
    details: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Track:
    """Slices by begin, each after those that it lies in."""

    name: str
    slices: tuple[Slice, ...]


def lay_out(name: str, blocks: Iterable[Sequence[Slice]]) -> list[Track]:
    """As few tracks as the blocks need: `name`, `name (2)` and so on. Empty where there is no slice.

    The slices of a block are parts of its first; different blocks are on one track only one after another,
    as what overlaps may have been in different threads.
    """
    pieces = sorted(
        (piece for block in blocks for piece in _nested(block)), key=lambda piece: piece[0].begin_ns
    )
    lanes: list[list[Slice]] = []
    busy: list[tuple[int, int]] = []  # until when, which lane
    free: list[int] = []
    for piece in pieces:
        while busy and busy[0][0] <= piece[0].begin_ns:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane = len(lanes)
            lanes.append([])
        lanes[lane] += piece
        heapq.heappush(busy, (max(slice_.end_ns for slice_ in piece), lane))
    return [
        Track(name if number == 1 else f"{name} ({number})", tuple(slices))
        for number, slices in enumerate(lanes, 1)
    ]


def _nested(block: Sequence[Slice]) -> list[list[Slice]]:
    """The block, without those that stick out of what they are in, as where the clock was set back."""
    fitting: list[Slice] = []
    alone: list[list[Slice]] = []
    around: list[Slice] = []
    for slice_ in sorted(block, key=lambda each: (each.begin_ns, -each.end_ns)):
        while around and around[-1].end_ns <= slice_.begin_ns:
            around.pop()
        if around and slice_.end_ns > around[-1].end_ns:
            alone.append([slice_])
            continue
        around.append(slice_)
        fitting.append(slice_)
    return [fitting, *alone] if fitting else alone
