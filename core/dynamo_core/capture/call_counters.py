"""How often each compiled graph was called and for how long, in memory that outlives the process.

The counters are a file mapped into memory: a call costs two additions and no system call, and whatever
ends the process (os._exit, a crash, kill -9) leaves them on disk as they were. The file's blocks are
reserved first, so a disk that fills up later cannot fault the mapping.
"""

import ctypes
import mmap
import os
from collections.abc import Callable
from typing import Any

from .primitives import O_CLOEXEC, O_CREAT, O_EXCL, O_RDWR, close, open_descriptor, perf_counter_ns

# int64 words, native byte order: a header, then two words for each graph (calls, nanoseconds).
FORMAT_MARK = 0x4459_4341_4C4C_5331  # "DYCALLS1" in ASCII
HEADER_WORDS = 4  # mark, records that could not be written, errno of the last failure, graphs in use
GRAPH_CAPACITY = 4096
_SIZE = 8 * (HEADER_WORDS + 2 * GRAPH_CAPACITY)


def _map_words(file: int) -> memoryview:
    """The file's int64 words, shared with the disk. OSError where the file system cannot do that.

    Python's own mmap keeps a duplicate of the descriptor, a low one, and closes whatever has that number when
    it goes: in a program that closes descriptors, that is somebody else's. This mapping keeps none.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = libc.mmap(None, _SIZE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap failed")
    return memoryview((ctypes.c_int64 * (_SIZE // 8)).from_address(address)).cast("B").cast("q")


class CallCounters:
    """The counters of one process. `words` is replaced in a forked child, hence read at each call."""

    def __init__(self, open_stream: Callable[[], Any]) -> None:
        self._open_stream = open_stream
        self._graphs = 0
        self.words: Any = _FirstUse(self)

    def open_file(self, path: str) -> None:
        """Map `path`, which must not exist; OSError where the file system cannot do that."""
        file = open_descriptor(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        try:
            os.posix_fallocate(file, 0, _SIZE)
            words = _map_words(file)
        except OSError:
            os.unlink(path)
            raise
        finally:
            close(file)
        self.words = words
        self.words[0] = FORMAT_MARK
        self.words[3] = self._graphs

    def keep_in_memory(self) -> None:
        """Count where nobody can read it: the program goes on, the report says "not recorded"."""
        self.words = [0] * (HEADER_WORDS + 2 * GRAPH_CAPACITY)

    def start_anew_after_fork(self) -> None:
        """Leave the parent's counters alone; a file of our own is made when something is counted."""
        self.words = _FirstUse(self)

    def new_graph(self) -> int | None:
        """The number of a graph's counters, from 0; None when all are taken."""
        if self._graphs == GRAPH_CAPACITY:
            return None
        self._graphs += 1
        self.words[3] = self._graphs
        return self._graphs - 1

    def note_lost_record(self, errno: int) -> None:
        """A record could not be written; say so where no disk space is needed."""
        self.words[1] += 1
        self.words[2] = errno

    def counted(self, compiled: Callable[..., Any], graph: int) -> Callable[..., Any]:
        """`compiled`, with its calls and the time in them (of the host, in ns) added up."""
        now = perf_counter_ns
        calls = HEADER_WORDS + 2 * graph
        nanoseconds = calls + 1

        # The additions hold no Python call, so CPython switches no thread between reading and writing.
        def compiled_graph(*args: Any, **kwargs: Any) -> Any:
            start = now()
            try:
                return compiled(*args, **kwargs)
            finally:
                elapsed = now() - start
                words = self.words
                words[calls] += 1
                words[nanoseconds] += elapsed

        return compiled_graph


class _FirstUse:
    """Stands in for the counters of a process that has no stream yet, and opens one when touched."""

    def __init__(self, counters: CallCounters) -> None:
        self._counters = counters

    def _opened(self) -> Any:
        if self._counters.words is self:
            try:
                self._counters._open_stream()
            except Exception:  # the recording is gone, say: the program goes on
                pass
        if self._counters.words is self:
            self._counters.keep_in_memory()
        return self._counters.words

    def __getitem__(self, word: int) -> int:
        return int(self._opened()[word])

    def __setitem__(self, word: int, value: int) -> None:
        self._opened()[word] = value
