"""When what happened: each track of a process as a strip of slices, from the start of the run to its end."""

from collections.abc import Iterable, Sequence

from dynamo_core.analysis.words import seconds
from dynamo_core.model import Process, Recording
from dynamo_core.shared.quick_dataclass import dataclass

from ..profile.exports.tracks import Slice, Track, life, marks, origin_ns, process_name, tracks
from .element import Element, cut, h

_UNITS = 100_000  # of the drawing, from left to right
_MOST_SLICES = 2_000  # on one track; more cannot be told apart, and take time to draw
_THINNEST = _UNITS / 800  # what still is a pixel or two on a screen
_ROW = 14  # units of height for each level of slices
_MOST_PROCESSES = 32
_MARKS = "breaks and refused compiles"
_LONGEST_TITLE = 1_000  # characters of what is said of a slice


@dataclass(frozen=True)
class Span:
    """From when to when a drawing goes, in nanoseconds since the epoch."""

    begin_ns: int
    end_ns: int

    def at(self, moment: int) -> float:
        """Where a moment is in a drawing."""
        return round((moment - self.begin_ns) / max(self.end_ns - self.begin_ns, 1) * _UNITS, 1)


class Timeline:
    """The tracks of a recording, laid out once for both drawings of them."""

    def __init__(self, recording: Recording) -> None:
        self._processes = recording.processes
        self._tracks = [_all_tracks(process, recording) for process in recording.processes[:_MOST_PROCESSES]]
        ends = [each.end_ns for some in self._tracks for track in some for each in track.slices]
        run_end = recording.run.ended_ns if recording.run is not None else None
        last = max([*ends, *([run_end] if run_end is not None else [])], default=0)
        self._span = Span(origin_ns(self._tracks, recording.run), last) if ends else None

    def small(self) -> Element | None:
        """The outermost slices of each process; None where nothing has a time."""
        return self._drawn(is_small=True)

    def whole(self) -> Element | None:
        """Every track with all its levels; a slice that is chosen tells about itself below."""
        return self._drawn(is_small=False)

    def _drawn(self, is_small: bool) -> Element | None:
        span = self._span
        if span is None:
            return None
        parts: list[Element] = []
        for process, its_tracks in zip(self._processes, self._tracks, strict=False):
            rows = [_row(track, span, is_small) for track in its_tracks]
            name = process_name(process)
            if len(self._processes) > 1:
                parts.append(h("div", h("h4", name), rows, data_process=name))
            else:
                parts += rows
        more = len(self._processes) - len(self._tracks)
        rest = h("p", f"… and {more:,} more processes", class_="dim") if more > 0 else None
        return h(
            "div",
            parts,
            _axis(span),
            rest,
            class_="timeline small" if is_small else "timeline",
            data_to=str(_UNITS),
            data_seconds=f"{(span.end_ns - span.begin_ns) / 1e9:.6f}",
        )


def _all_tracks(process: Process, recording: Recording) -> list[Track]:
    """The tracks as in the exports: the process to its end, events of its compiling, then what it did."""
    moments = (
        Slice(mark.name, mark.at_ns, mark.at_ns, mark.name, details=mark.details) for mark in marks(process)
    )
    around = [life(process, recording), Track(_MARKS, tuple(moments))]
    return [*(track for track in around if track.slices), *tracks(process)]


def _axis(span: Span) -> Element:
    whole = (span.end_ns - span.begin_ns) / 1e9
    marks = (h("span", seconds(whole * part / 4) if part else "0 s") for part in range(5))
    return h(
        "div",
        h("span", "since the start", class_="track-name"),
        h("div", marks, class_="axis"),
        class_="track",
    )


def _row(track: Track, span: Span, is_small: bool) -> Element:
    placed = [(slice_, depth) for slice_, depth in _depths(track.slices) if depth == 0 or not is_small]
    visible, hidden = _largest(placed)
    levels = max((depth for _, depth in visible), default=0) + 1
    height = levels * _ROW
    drawing = h(
        "svg",
        (_rect(slice_, depth, span, track.name) for slice_, depth in visible),
        viewBox=f"0 0 {_UNITS} {height}",
        preserveAspectRatio="none",
        height=height,
        role="img",
        aria_label=f"{track.name}: {len(track.slices):,} slices",
    )
    name = track.name if not hidden else f"{track.name} (the longest {len(visible):,} of {len(placed):,})"
    return h("div", h("span", name, class_="track-name"), drawing, class_="track")


def _rect(slice_: Slice, depth: int, span: Span, track: str) -> Element:
    left = span.at(slice_.begin_ns)
    length = slice_.end_ns - slice_.begin_ns
    took = f": {seconds(length / 1e9)}" if length else ""  # a mark takes no time
    begun = seconds((slice_.begin_ns - span.begin_ns) / 1e9)
    details = "".join(f"; {name}: {value}" for name, value in slice_.details.items())
    return h(
        "rect",
        h("title", cut(f"{slice_.name}{took}, {begun} after the start{details}", _LONGEST_TITLE)),
        x=left,
        y=depth * _ROW + 1,
        width=max(span.at(slice_.end_ns) - left, _THINNEST),
        height=_ROW - 2,
        class_=f"{_kind(track)} level{depth % 4}",
    )


def _kind(track: str) -> str:
    """Which of the colours of the wall time's bar a track has."""
    if track.startswith("compiling"):
        return "compiling"
    if track.startswith(("start-up", "process")):
        return "start"
    if track == _MARKS:
        return "mark"
    return "graphs" if "graphs" in track else "other"


def _depths(slices: Sequence[Slice]) -> Iterable[tuple[Slice, int]]:
    around: list[Slice] = []
    for slice_ in slices:
        while around and around[-1].end_ns <= slice_.begin_ns:
            around.pop()
        yield slice_, len(around)
        around.append(slice_)


def _largest(placed: list[tuple[Slice, int]]) -> tuple[list[tuple[Slice, int]], int]:
    """What can be drawn, in its order, and how many slices it lacks."""
    if len(placed) <= _MOST_SLICES:
        return placed, 0
    longest = sorted(placed, key=lambda each: each[0].begin_ns - each[0].end_ns)[:_MOST_SLICES]
    chosen = {id(slice_) for slice_, _ in longest}
    return [each for each in placed if id(each[0]) in chosen], len(placed) - _MOST_SLICES
