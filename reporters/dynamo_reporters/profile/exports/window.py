"""The events of the profiled window, on the timeline of everything else: operators, launches and kernels."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from dynamo_core.model import Process
from dynamo_core.recording.window_events import UNREADABLE, window_events
from dynamo_core.shared.untrusted import printable

from .layout import Slice, Track, lay_out

_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
_MOST_EVENTS = 1_000_000
_LATEST_NS = 2**63

_Thread = tuple[str, str]


def window_tracks(process: Process) -> list[Track]:
    """A track for each thread and each stream of a device; none where the trace cannot be read."""
    threads = _Threads()
    try:
        for base, event in islice(window_events(process), _MOST_EVENTS):
            threads.add(event, base)
    except UNREADABLE:
        return []
    return threads.tracks()


class _Threads:
    """The slices of each thread of the host, and of each stream of a device."""

    def __init__(self) -> None:
        self._names: dict[_Thread, str] = {}
        self._host: dict[_Thread, list[Slice]] = {}
        self._device: dict[_Thread, list[Slice]] = {}

    def add(self, event: Mapping[str, Any], base: int) -> None:
        """Take one event; what cannot be understood is left out."""
        try:
            thread = str(event["pid"]), str(event["tid"])
            category = event.get("cat")
            if event["ph"] == "M" and event["name"] == "thread_name":
                self._names[thread] = printable(str(event["args"]["name"]))
            elif event["ph"] == "X" and category in _HOST + _DEVICE:
                of_threads = self._device if category in _DEVICE else self._host
                of_threads.setdefault(thread, []).append(_slice(event, category, base))
        except (KeyError, TypeError, ValueError, OverflowError):
            pass

    def tracks(self) -> list[Track]:
        """Of the host, where one event lies in another; then of the devices."""
        found: list[Track] = []
        for thread, slices in self._host.items():
            found += lay_out(f"profiled: {self._name(thread)}", [slices])
        for thread, slices in self._device.items():
            name = f"profiled: device {printable(thread[0])}, {self._name(thread)}"
            found += lay_out(name, ([each] for each in slices))
        return found

    def _name(self, thread: _Thread) -> str:
        return self._names.get(thread) or f"thread {printable(thread[1])}"


def _slice(event: Mapping[str, Any], category: str, base: int) -> Slice:
    name = printable(str(event["name"]))
    begin = base + _nanoseconds(event["ts"])
    end = begin + _nanoseconds(event["dur"])
    if not 0 <= begin <= end < _LATEST_NS:
        raise ValueError("no time")
    return Slice(name, begin, end, name, details={"profiler": category})


def _nanoseconds(microseconds: Any) -> int:
    """Apart from its whole part, of which a product in floating point would round the last figures."""
    value = float(microseconds)
    return int(value) * 1000 + round(value % 1 * 1000)
