"""How long some calls of a compiled graph take on the GPU, from CUDA events; nothing waits for them.

An event is recorded on the current stream before a call and one after it. Both are read when a later call is
sampled, if they have completed by then. The time between them is the stream's, idle moments included.

Source: torch/cuda/streams.py (Event), torch/cuda/graphs.py (is_current_stream_capturing), 2.8 to 2.15.
"""

from collections.abc import Callable
from typing import Any

from ...shared.call_pages import DEVICE_NS, DEVICE_SAMPLES

_MOST_PENDING = 8  # pairs of events; where a stream is so far behind, no further call is timed
_SAMPLES_AT_A_STRIDE = 64  # then every second call is timed, then every fourth …


def timed_on_device(compiled: Callable[..., Any], words: Callable[[], Any]) -> Callable[..., Any]:
    """`compiled`, with some of its calls timed if CUDA is initialised; `words` returns its page's words."""
    import torch

    if not torch.cuda.is_initialized():  # asking for a device would initialise CUDA
        return compiled
    return timed(compiled, words, DeviceTimer(torch.cuda))


def timed(compiled: Callable[..., Any], words: Callable[[], Any], timer: "DeviceTimer") -> Callable[..., Any]:
    """`compiled`, with all of its calls timed at first, and then ever fewer."""
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
        begin_event = timer.begin()
        try:
            return compiled(*args)
        finally:
            timer.end(begin_event, words())

    if hasattr(compiled, "_boxed_call"):  # a marker: it takes its arguments in a list, which it empties
        timed_graph._boxed_call = compiled._boxed_call  # type: ignore[attr-defined]
    return timed_graph


class DeviceTimer:
    """The timer of one callable. `cuda` is torch.cuda."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._pending: list[tuple[Any, Any]] = []  # pairs of events

    def begin(self) -> Any:
        """Record an event on the current stream; None, without one, while a CUDA graph is being captured."""
        try:
            if len(self._pending) >= _MOST_PENDING or self._cuda.is_current_stream_capturing():
                return None
            event = self._cuda.Event(enable_timing=True)
            event.record()
            return event
        except Exception:  # an earlier CUDA error of the program, say, which it will meet by itself
            return None

    def end(self, begin_event: Any, words: Any) -> None:
        """Record the second event, and note the pairs that have completed.

        While a CUDA graph is being captured, even the question whether an event has completed would end that.
        """
        try:
            if self._cuda.is_current_stream_capturing():
                return
            if begin_event is not None:
                event = self._cuda.Event(enable_timing=True)
                event.record()
                self._pending.append((begin_event, event))
            self._note_completed(words)
        except Exception:
            self._pending.clear()

    def _note_completed(self, words: Any) -> None:
        while self._pending and self._pending[0][1].query():
            begin_event, end_event = self._pending.pop(0)
            words[DEVICE_NS] += int(begin_event.elapsed_time(end_event) * 1e6)
            words[DEVICE_SAMPLES] += 1
