"""What some calls of a compiled graph take on the GPU, from events on its stream; nothing waits for them.

An event is put on the current stream before a call and one after it; both are looked at when a later call is
sampled, and only if they have passed by then. The time between them is the stream's, idle moments included.

Source: torch/cuda/streams.py (Event), torch/cuda/graphs.py (is_current_stream_capturing), 2.8 to 2.15.
"""

from collections.abc import Callable
from typing import Any

from ...shared.call_pages import DEVICE_NS, DEVICE_SAMPLES

_MOST_WAITING = 8  # pairs of events; a stream that is so far behind is asked again later
_SAMPLES_AT_A_STRIDE = 64  # then every second call, every fourth …


def timed_on_device(compiled: Callable[..., Any], words: Callable[[], Any]) -> Callable[..., Any]:
    """`compiled`, some calls of which are timed where CUDA is in use by now; `words` gives its page."""
    import torch

    if not torch.cuda.is_initialized():  # asking for a device would initialise it
        return compiled
    return timed(compiled, words, DeviceTimer(torch.cuda))


def timed(compiled: Callable[..., Any], words: Callable[[], Any], timer: "DeviceTimer") -> Callable[..., Any]:
    """`compiled`, with every call of it at first, and then ever fewer, timed by `timer`."""
    until_sample, stride, samples = 1, 1, 0

    def timed_graph(*args: Any) -> Any:
        nonlocal until_sample, stride, samples
        until_sample -= 1
        if until_sample:
            return compiled(*args)
        samples += 1
        if samples % _SAMPLES_AT_A_STRIDE == 0:
            stride *= 2
        until_sample = stride
        begun = timer.begin()
        try:
            return compiled(*args)
        finally:
            timer.end(begun, words())

    if hasattr(compiled, "_boxed_call"):  # it takes its arguments in a list, which it empties
        timed_graph._boxed_call = compiled._boxed_call  # type: ignore[attr-defined]
    return timed_graph


class DeviceTimer:
    """The timer of one callable. `cuda` is torch.cuda."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._waiting: list[tuple[Any, Any]] = []  # pairs of events

    def begin(self) -> Any:
        """An event on the current stream; None where there is to be none: a CUDA graph is being captured."""
        try:
            if len(self._waiting) >= _MOST_WAITING or self._cuda.is_current_stream_capturing():
                return None
            event = self._cuda.Event(enable_timing=True)
            event.record()
            return event
        except Exception:  # the program's own CUDA error, say: it will meet it by itself
            return None

    def end(self, begun: Any, words: Any) -> None:
        """Put the second event there, and note the pairs that have passed."""
        try:
            if begun is not None and not self._cuda.is_current_stream_capturing():
                event = self._cuda.Event(enable_timing=True)
                event.record()
                self._waiting.append((begun, event))
            self._note_what_has_passed(words)
        except Exception:
            self._waiting.clear()

    def _note_what_has_passed(self, words: Any) -> None:
        while self._waiting and self._waiting[0][1].query():
            begun, ended = self._waiting.pop(0)
            words[DEVICE_NS] += int(begun.elapsed_time(ended) * 1e6)
            words[DEVICE_SAMPLES] += 1
