"""Record events that can happen very often a few times only, each time with the count so far."""

import os
from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any

from ...shared.our_record import OurRecord
from .stream import Stream

_MOST_KINDS = 1000  # a program can make functions without end


class Occurrences:
    """Writes a record the 1st, 2nd, 4th, 8th … time, and the last count at the end; its payload has `times`.

    Once there are very many kinds, further ones are counted together, in a record that has only the count.
    """

    def __init__(self, stream: Stream, kind: type[OurRecord]) -> None:
        self._stream = stream
        self._kind_of_record = kind
        self._times: dict[object, int] = {}
        self._described: dict[object, Mapping[str, Any]] = {}
        self._unwritten: dict[object, int] = {}
        self._lock = RLock()  # a signal handler may call `add` while its thread is in `add` already
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def add(self, kind: object, describe: Callable[[], Mapping[str, Any]]) -> None:
        """Count one event of a kind (anything hashable); `describe` is called when the kind is new."""
        with self._lock:
            if kind not in self._times:
                if len(self._times) >= _MOST_KINDS:
                    kind = None
                else:
                    self._described[kind] = describe()
            times = self._times[kind] = self._times.get(kind, 0) + 1
            self._unwritten[kind] = times
        if times & (times - 1) == 0:
            self._write(kind, times)

    def finish(self) -> None:
        """Write the counts that have not been written yet."""
        for kind, times in list(self._unwritten.items()):
            self._write(kind, times)

    def _write(self, kind: object, times: int) -> None:
        self._stream.record(self._kind_of_record(**self._described.get(kind, {}), times=times))
        if self._unwritten.get(kind) == times:
            del self._unwritten[kind]

    def _reset_after_fork(self) -> None:
        """Forget the counts in a forked child: its own stream has none of the parent's records."""
        self._lock = RLock()
        for known in (self._times, self._described, self._unwritten):
            known.clear()
