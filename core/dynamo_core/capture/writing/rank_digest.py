"""Keep the digest of a rank beside its stream, so that thousands of ranks are compared without their streams.

It is written in one step, after something was compiled and at the end, but so seldom that writing takes at
most a fiftieth of the time. A reader adds the records that the stream has beyond the digest.
"""

import os
from collections.abc import Mapping
from typing import Any

from ...shared.names import DIGEST_PREFIX, DIGEST_SUFFIX, FRAME, PROCESS_END, PROCESS_STATE, beside_stream
from ...shared.rank_digest import RankDigest
from ..primitives import O_TRUNC, O_WRONLY, close, create_private, perf_counter_ns, write
from .file_size_limit import FileSizeSignalBlocked

_WAIT_FACTOR = 50  # after each write, wait this many times as long as it took
_WRITTEN_AFTER = frozenset({"compilation_metrics", "bwd_compilation_metrics", FRAME, PROCESS_STATE})


class DigestFile:
    """The digest of one stream. After an error there is no file, and a reader makes the digest itself."""

    def __init__(self, stream: str) -> None:
        folder, _, name = stream.rpartition("/")
        self._path = f"{folder}/{beside_stream(name, DIGEST_PREFIX, DIGEST_SUFFIX)}"
        self._digest: RankDigest | None = RankDigest()
        self._next_ns = 0

    def add(self, metadata: Mapping[str, Any], payload: str | None, size: int) -> None:
        """Add a record that was written to the stream, which is `size` bytes long now."""
        if self._digest is None:
            return
        name = next(iter(metadata), "")
        if name == "artifact":
            name = metadata[name]["name"]
        try:
            self._digest.add(name, metadata, lambda: payload)
            self._digest.bytes = size
            if name == PROCESS_END or (name in _WRITTEN_AFTER and perf_counter_ns() >= self._next_ns):
                self._write(self._digest.to_json().encode())
        except Exception:  # the digest would not match the stream any more
            self.give_up()

    def give_up(self) -> None:
        """Write no digest for this process any more, and remove the file."""
        self._digest = None
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def _write(self, content: bytes) -> None:
        began = perf_counter_ns()
        unfinished = f"{self._path}.new"
        file = create_private(unfinished, O_WRONLY | O_TRUNC)
        try:
            with FileSizeSignalBlocked():
                is_whole = write(file, content) == len(content)
        finally:
            close(file)
        if not is_whole:
            raise OSError("it was not written whole")
        os.replace(unfinished, self._path)
        ended = perf_counter_ns()
        self._next_ns = ended + _WAIT_FACTOR * (ended - began)
