"""What some calls of a compiled graph take on the GPU, from events on its stream; nothing waits for them.

An event is put on the current stream before a call and one after it; both are looked at when a later call is
sampled, and only if they have passed by then. The time between them is the stream's, idle moments included.

Source: torch/cuda/streams.py (Event), torch/cuda/graphs.py (is_current_stream_capturing), 2.8 to 2.15.
"""

from typing import Any

from ..call_pages import DEVICE_NS, DEVICE_SAMPLES

_MOST_WAITING = 8  # pairs of events; a stream that is so far behind is asked again later

Pair = tuple[Any, Any]


class DeviceTimer:
    """The timer of one callable. `cuda` is torch.cuda."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._waiting: list[Pair] = []

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


def device_timer() -> DeviceTimer | None:
    """A timer where CUDA is in use by now; asking for a device would initialise it."""
    import torch

    return DeviceTimer(torch.cuda) if torch.cuda.is_initialized() else None
