"""Write one process's records, in the format of TORCH_TRACE, each on disk before the next begins.

A record is one line of prefix and JSON, then its payload indented by a tab, as
torch/_logging/_internal.py (TorchLogsFormatter.format, trace=True) writes it and tlparse reads it.
Checked with torch 2.8 to 2.15 (sources) and 2.13 (run).
"""

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import ENOSPC
from hashlib import md5
from json import dumps
from typing import TYPE_CHECKING, Any

from ...shared.call_pages import LOST_RECORDS
from ...shared.early_records import ProcessStarted
from ...shared.launchers import rank_of
from ...shared.names import CALLS_PREFIX, CALLS_SUFFIX, CARRIER_LOCK, STREAM_PREFIX, STREAM_SUFFIX
from ...shared.our_record import OurRecord
from ..primitives import (
    O_APPEND,
    O_CLOEXEC,
    O_EXCL,
    O_NOFOLLOW,
    O_RDONLY,
    O_WRONLY,
    close,
    create_private,
    fstat,
    getpid,
    localtime,
    open_descriptor,
    read,
    status_of,
    time_ns,
    write,
)
from .call_counters import CallCounters
from .file_size_limit import SparedOfFileSizeSignal

if TYPE_CHECKING:
    from .rank_digest import DigestFile


# Descriptors of ours, where programs do not look for them, and whether they still are ours.


# Above the range that programs sweep when they close "all" descriptors, and above those that they count on.
_LOWEST = 500

Identity = tuple[int, int]


def moved_up(file: int) -> int:
    """The open file under a high descriptor; under its own where there is a low limit on them."""
    try:
        descriptor = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    except OSError:
        return file
    close(file)
    return descriptor


def identity_of(descriptor: int) -> Identity:
    """Which file it is."""
    status = fstat(descriptor)
    return status.st_dev, status.st_ino


def is_still(descriptor: int, identity: Identity | None) -> bool:
    """Whether it is this file: programs close what they did not open."""
    try:
        return identity_of(descriptor) == identity
    except OSError:
        return False


# When things happened in the life of this process, in nanoseconds since the epoch.


def process_began_ns() -> int | None:
    """When the kernel made this process; in hundredths of a second, which is how it keeps that.

    Source: proc(5), /proc/self/stat (starttime, field 22) and /proc/uptime. None where there is no /proc.
    """
    try:
        ticks = int(_content("/proc/self/stat").rpartition(b")")[2].split()[19])
        up_s = float(_content("/proc/uptime").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return time_ns() - int((up_s - ticks / os.sysconf("SC_CLK_TCK")) * 1e9)


def _content(path: str) -> bytes:
    file = open_descriptor(path, O_RDONLY | O_CLOEXEC)
    try:
        return read(file, 4096)
    finally:
        close(file)


# Write one process's records, in the format of TORCH_TRACE, each on disk before the next begins.


class _Muted(threading.local):
    """Whether this thread compiles something that is not the program's."""

    is_so = False


class Stream:
    """The records of this process. Opened at the first record; a forked child gets one of its own."""

    def __init__(self, recording: str, opening_record: ProcessStarted) -> None:
        self._recording = recording
        self._opening_record = opening_record
        self._interned: list[Mapping[str, Any]] = []
        self._muted = _Muted()
        self._forget_file()
        self.counters = CallCounters(self._open)

    def _forget_file(self) -> None:
        self._opening = threading.RLock()  # a new one in a forked child: nobody there can release the old
        self._descriptor = -1
        self._path = ""
        self._identity: Identity | None = None
        self._ends_in_mid_line = False
        self._size = 0
        self._digest: DigestFile | None = None

    def start_anew_after_fork(self) -> None:
        """In a forked child: leave the parent's stream to the parent."""
        if self._descriptor >= 0 and self._is_ours():  # it may have become a file of the program's
            close(self._descriptor)
        self._forget_file()
        self._opening_record.forked = True
        self.counters.start_anew_after_fork()

    def record_to(self, recording: str) -> None:
        """In a forked child that has written nothing yet: its stream is of another recording."""
        self._recording = recording

    def record(self, record: OurRecord, compile_id: Mapping[str, int] | None = None) -> None:
        """Write a record of our own, of a type that the reader knows."""
        metadata: dict[str, Any] = {"artifact": {"name": record.NAME, "encoding": "json"}}
        metadata.update(compile_id or {})
        text = record.as_json()
        metadata["has_payload"] = md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        self.write(metadata, text, "dynamo_core/capture", 0)

    def opened(self) -> str:
        """The path of the file. A stream that is not open yet is opened."""
        return self.position()[0]

    def position(self) -> tuple[str, int | None, int]:
        """Where the next record will stand, as `StreamPosition` has it; the stream is opened for it."""
        lost = self.counters.words[LOST_RECORDS]
        try:
            size = status_of(self._path).st_size
        except OSError:  # it could not be opened, or was removed
            size = None
        return self._path, size, lost

    @contextmanager
    def muted(self) -> Iterator[None]:
        """What this thread has torch write in here is not recorded."""
        self._muted.is_so = True
        try:
            yield
        finally:
            self._muted.is_so = False

    @property
    def is_muted(self) -> bool:
        """Whether this thread's records are not written."""
        return self._muted.is_so

    def write(self, metadata: Mapping[str, Any], payload: str | None, path: str, line: int) -> None:
        """Append one record. Failing to is counted, and is never the program's problem."""
        if self.is_muted and "str" not in metadata:
            return
        if "str" in metadata:  # torch interns file names once a process, forked children included
            self._interned.append(metadata)
        text = f"{_prefix(path, line)} {dumps(metadata, default=repr)}\n"
        if payload is not None:
            text += "\t" + payload.replace("\n", "\n\t") + "\n"
        data = text.encode("utf-8", "replace")
        try:
            if self._descriptor < 0:
                self._open()
            if self._digest is None:
                self._append(data)
            else:
                self._append_digested(self._digest, data, metadata, payload)
        except OSError as error:
            self.counters.note_lost_record(error.errno or 0)

    def _append_digested(
        self, digest: "DigestFile", data: bytes, metadata: Mapping[str, Any], payload: str | None
    ) -> None:
        """The digest takes the records in the order in which they stand in the stream."""
        with self._opening:
            try:
                self._append(data)
            except OSError:
                digest.give_up()
                raise
            self._size += len(data)
            digest.add(metadata, payload, self._size)

    def _append(self, data: bytes) -> None:
        if not self._is_ours():
            self._reopen()
        if self._ends_in_mid_line:  # a record was cut, since the disk was full: it alone is lost
            data = b"\n" + data
        with SparedOfFileSizeSignal():
            while data:
                written = write(self._descriptor, data)
                self._ends_in_mid_line = written < len(data)
                data = data[written:]
                if not written:
                    raise OSError(ENOSPC, "nothing was written")

    def _is_ours(self) -> bool:
        return is_still(self._descriptor, self._identity)

    def _reopen(self) -> None:
        with self._opening:
            if not self._is_ours():
                self._adopt(open_descriptor(self._path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW))

    def _open(self) -> None:
        with self._opening:
            if self._descriptor < 0:
                self._open_new_file()

    def _open_new_file(self) -> None:
        rank = rank_of(os.environ)
        # Hosts may share the folder, and have processes of the same id.
        stem = f"{f'rank_{rank[0]}_' if rank else ''}{name_of_this_process()}"
        # exec keeps the process id, and ids come round again; of what is carried elsewhere, out of sight.
        is_carried = os.path.lexists(f"{self._recording}/{CARRIER_LOCK}")
        first = time_ns() // 10**6 if is_carried else 0
        for attempt in range(first, first + 1000):
            self._path = f"{self._recording}/{STREAM_PREFIX}{stem}_{attempt}{STREAM_SUFFIX}"
            try:
                file = create_private(self._path, O_WRONLY | O_APPEND | O_EXCL)
                break
            except FileExistsError:
                continue
        self._adopt(file)
        if rank is not None:
            from .rank_digest import DigestFile  # a module that other processes do not load

            self._digest = DigestFile(self._path)
        calls_file = f"{CALLS_PREFIX}{stem}_{attempt}{CALLS_SUFFIX}"
        problem = None
        try:
            self.counters.open_file(f"{self._recording}/{calls_file}")
        except OSError as error:
            self.counters.keep_in_memory()
            problem = f"{type(error).__name__}: {error}"
        opening = self._opening_record
        opening.pid, opening.ppid = getpid(), os.getppid()
        opening.started_ns, opening.began_ns = time_ns(), process_began_ns()
        opening.calls_file, opening.calls_not_recorded = calls_file, problem
        self.record(opening)
        for metadata in list(self._interned):
            self.write(metadata, None, "dynamo_core/capture", 0)

    def _adopt(self, file: int) -> None:
        self._descriptor = moved_up(file)
        self._identity = identity_of(self._descriptor)


def name_of_this_process() -> str:
    """For files of its own: numbers of its host, which others must not learn from the name, and of itself."""
    host = md5(os.uname().nodename.encode(), usedforsecurity=False).hexdigest()
    return f"{int(host[:7], 16)}_{getpid()}"


def _prefix(path: str, line: int) -> str:
    now = time_ns()
    t = localtime(now // 1_000_000_000)
    return (
        f"V{t.tm_mon:02}{t.tm_mday:02} {t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02}"
        f".{now // 1000 % 1_000_000:06} {getpid()} {path}:{line}]"
    )
