"""The files beside a stream: call counters of compiled graphs, and stacks written when a signal came."""

import re
import struct
from io import FileIO
from pathlib import Path

from ..model import CallSample, CallTimes, Place, Process, StackFrame
from ..shared import call_pages as pages
from ..shared.names import STACK_PREFIX, STACK_SUFFIX, beside_stream
from ..shared.quick_dataclass import dataclass
from ..shared.text import printable
from .plain_files import open_plain, read_plain


@dataclass(frozen=True)
class Calls:
    """The counters of a process. `callables[i]` are the calls on page i.

    `overlap_ns` is counted more than once in their totals.
    """

    lost_records: int
    last_errno: int
    overlap_ns: int
    compiling_ns: int
    callables: list[CallTimes]


CALL_SAMPLES = "calls one by one"  # in `contents`: calls that were recorded one by one are wanted


def parse_calls(data: bytes, *, with_samples: bool = True) -> Calls | None:
    """The counters in the bytes of a counters file; None if the bytes are something else.

    Without samples only the first call of each callable is read, which is much faster.
    """
    words = struct.unpack(f"={len(data) // 8}q", data[: len(data) // 8 * 8])
    if len(words) < pages.PAGE_WORDS or words[pages.MARK] not in pages.FORMAT_MARKS:
        return None
    in_use = max(0, min(words[pages.PAGES_IN_USE], len(words) // pages.PAGE_WORDS - 1))
    epoch_ns = words[pages.CLOCK_EPOCH_NS] - words[pages.CLOCK_NS]
    size = pages.PAGE_WORDS
    return Calls(
        words[pages.LOST_RECORDS],
        words[pages.LAST_ERRNO],
        words[pages.OVERLAP_NS],
        words[pages.COMPILING_NS],
        [_callable(words[size * (i + 1) : size * (i + 2)], epoch_ns, with_samples) for i in range(in_use)],
    )


def running_calls(file: Path) -> dict[int, int]:
    """The pages of callables whose call has not returned, and when it began, in nanoseconds since the epoch.

    Empty for a file that cannot be read. Only the first words of each page are read.
    """
    found = {}
    try:
        with open_plain(file) as opened:
            header = _words(opened, 0)
            if header[pages.MARK] not in pages.FORMAT_MARKS:
                return {}
            epoch_ns = header[pages.CLOCK_EPOCH_NS] - header[pages.CLOCK_NS]
            for page in range(max(0, header[pages.PAGES_IN_USE])):
                words = _words(opened, (page + 1) * pages.PAGE_BYTES)
                since = _running_since(words)
                if since is not None:
                    found[page] = since + epoch_ns
    except (OSError, struct.error):
        pass
    return found


def _words(file: FileIO, offset: int) -> tuple[int, ...]:
    file.seek(offset)
    return struct.unpack(f"={pages.FIRST_BUCKET}q", file.read(8 * pages.FIRST_BUCKET) or b"")


def assign_calls(process: Process, calls: Calls, first_page: int = 0) -> list[tuple[int, CallTimes]]:
    """Give each graph its calls, forward and backward; returns the pages of no graph, and their calls.

    `first_page` is the page that `calls` begin with.
    """
    graphs = {graph.calls_index: graph for graph in process.graphs}
    backwards = {graph.backward_index: graph for graph in process.graphs}
    others = []
    for page, times in enumerate(calls.callables, first_page):
        if page in graphs:
            graph = graphs[page]
            graph.times, graph.calls, graph.host_seconds = times, times.calls, times.seconds
        elif page in backwards:
            backwards[page].backward = times
        else:
            others.append((page, times))
    return others


def _callable(page: tuple[int, ...], epoch_ns: int, with_samples: bool) -> CallTimes:
    first, last = pages.FIRST_BUCKET, pages.LAST_BUCKET
    histogram = {
        pages.bucket_bounds(bucket): count
        for bucket, count in enumerate(page[first : last + 1], first)
        if count > 0
    }
    early = _rows(page, pages.EARLY, pages.EARLY_BEGIN, pages.EARLY_WORDS, pages.EARLY_CAPACITY)
    samples = _rows(page, pages.SAMPLES, pages.SAMPLES_BEGIN, pages.SAMPLE_WORDS, pages.SAMPLE_CAPACITY)
    if not with_samples:
        early, samples = early[:1], []
    untimed, covered = max(0, page[pages.UNTIMED]), page[pages.COVERED]
    untimed_ns = page[pages.COVERED_NS] * untimed / covered if covered > 0 else 0.0
    guards, on_device = page[pages.GUARD_SAMPLES], max(0, page[pages.DEVICE_SAMPLES])
    since = _running_since(page)
    return CallTimes(
        calls=sum(histogram.values()) + untimed,
        seconds=(page[pages.TOTAL_NS] + untimed_ns) / 1e9,
        histogram=histogram,
        early=tuple(
            CallSample(number, began + epoch_ns, elapsed / 1e9)
            for number, (began, elapsed) in enumerate(early, 1)
        ),
        samples=tuple(
            CallSample(
                number,
                began + epoch_ns,
                elapsed / 1e9,
                since / 1e9 if since >= 0 else None,
                previous if previous >= 0 else None,
            )
            for number, began, elapsed, since, previous in samples
        ),
        guard_seconds=page[pages.GUARD_NS] / 1e9 / guards if guards > 0 else None,
        device_seconds=page[pages.DEVICE_NS] / 1e9 / on_device if on_device else None,
        device_samples=on_device,
        raised=max(0, page[pages.RAISED]),
        running_since_ns=None if since is None else since + epoch_ns,
        is_running_since_exact=page[pages.RUNNING_SINCE] > 0,
        untimed=untimed,
    )


def _running_since(page: tuple[int, ...]) -> int | None:
    """When the call that has not returned began, at the earliest if it is not timed; else None."""
    if page[pages.RUNNING_SINCE] > 0:
        return page[pages.RUNNING_SINCE]
    is_running = page[pages.UNTIMED_BEGUN] > page[pages.UNTIMED]
    return page[pages.LAST_TIMED_END] if is_running else None


def _rows(page: tuple[int, ...], count: int, begin: int, width: int, capacity: int) -> list[tuple[int, ...]]:
    rows = max(0, min(page[count], capacity))
    return [page[begin + width * row : begin + width * (row + 1)] for row in range(rows)]


# Stacks that Python's faulthandler writes when a signal comes.
_LARGEST = 4 << 20  # bytes; a stack has 100 lines at most
_FRAME = re.compile(r'  File "(.{0,500})", line (\d{1,9}) in (.{0,500})')  # faulthandler truncates at 500
_MOST_FRAMES = 100


def last_stack(stream: Path) -> tuple[StackFrame, ...]:
    """The last stack in the file beside a stream, the innermost frame at the end; () without a stack."""
    try:
        content = read_plain(
            stream.with_name(beside_stream(stream.name, STACK_PREFIX, STACK_SUFFIX)), _LARGEST
        )
    except OSError:  # most streams have no such file
        return ()
    return parse_stacks(content.decode("utf-8", "replace"))


def parse_stacks(text: str) -> tuple[StackFrame, ...]:
    """The last stack in the text that faulthandler wrote.

    Source: Python/traceback.c (dump_traceback, dump_frame), Python 3.10 to 3.14.
    """
    stacks: list[list[StackFrame]] = []
    for line in text.splitlines():
        frame = _FRAME.fullmatch(line)
        if frame is None:
            stacks.append([])
        elif stacks and len(stacks[-1]) < _MOST_FRAMES:
            place = Place(printable(frame[1]), int(frame[2]))
            stacks[-1].append(StackFrame(place, printable(frame[3]), ""))
    found = next((stack for stack in reversed(stacks) if stack), [])
    return tuple(reversed(found))
