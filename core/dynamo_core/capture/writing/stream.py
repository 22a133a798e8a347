"""Write the records of one process in the format of TORCH_TRACE, each on disk before the next begins.

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
from ...shared.early_records import ProcessInfo
from ...shared.launchers import rank_of
from ...shared.names import CALLS_PREFIX, CALLS_SUFFIX, STREAM_PREFIX, STREAM_SUFFIX, UPLOADER_LOCK
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
from .file_size_limit import FileSizeSignalBlocked

if TYPE_CHECKING:
    from .rank_digest import DigestFile

# Descriptors of ours are above the range that programs sweep when they close "all" descriptors, and above
# those whose numbers programs rely on.
_LOWEST_DESCRIPTOR = 500

Identity = tuple[int, int]


def move_to_high_descriptor(file: int) -> int:
    """Give an open file a high descriptor, and return it; the old one where the limit on them is too low."""
    try:
        descriptor = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _LOWEST_DESCRIPTOR)
    except OSError:
        return file
    close(file)
    return descriptor


def identity_of(descriptor: int) -> Identity:
    """The device and the inode of an open file."""
    status = fstat(descriptor)
    return status.st_dev, status.st_ino


def is_same_file(descriptor: int, identity: Identity | None) -> bool:
    """Whether a descriptor still is this file: programs close descriptors that they did not open."""
    try:
        return identity_of(descriptor) == identity
    except OSError:
        return False


def process_began_ns() -> int | None:
    """When the kernel made this process, in nanoseconds since the epoch; None where there is no /proc.

    The kernel keeps it in hundredths of a second. Source: proc(5), /proc/self/stat (starttime, field 22) and
    /proc/uptime.
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


class _Muted(threading.local):
    """Whether this thread compiles something that does not belong to the program."""

    is_so = False


class Stream:
    """The records of this process. Opened at the first record; a forked child gets one of its own."""

    def __init__(self, recording: str, opening_record: ProcessInfo) -> None:
        self._recording = recording
        self._opening_record = opening_record
        self._interned: list[Mapping[str, Any]] = []
        self._muted = _Muted()
        self._has_ended = False
        self._forget_file()
        self.counters = CallCounters(self._open)

    def _forget_file(self) -> None:
        self._opening = threading.RLock()  # a new one in a forked child, where nobody can release the old one
        self._descriptor = -1
        self._path = ""
        self._identity: Identity | None = None
        self._ends_in_mid_line = False
        self._size = 0
        self._digest: DigestFile | None = None

    def restart_after_fork(self) -> None:
        """Leave the stream to the parent, in a forked child, which opens its own one."""
        if self._descriptor >= 0 and self._is_ours():  # the program may have reused the descriptor
            close(self._descriptor)
        self._forget_file()
        self._opening_record.forked = True
        self.counters.restart_after_fork()
        if self._has_ended:
            self.end()

    def record_to(self, recording: str) -> None:
        """Write to another recording, in a forked child that has written nothing yet."""
        self._recording = recording

    def record(self, record: OurRecord, compile_id: Mapping[str, int] | None = None) -> None:
        """Write a record of one of our types, which torch's trace does not have."""
        metadata: dict[str, Any] = {"artifact": {"name": record.NAME, "encoding": "json"}}
        metadata.update(compile_id or {})
        text = record.as_json()
        metadata["has_payload"] = md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        self.write(metadata, text, "dynamo_core/capture", 0)

    def opened(self) -> str:
        """The path of the stream's file; the stream is opened if it is not open yet."""
        return self.position()[0]

    def position(self) -> tuple[str, int | None, int]:
        """The position of the next record, with the fields of `StreamPosition`; opens the stream."""
        lost = self.counters.words[LOST_RECORDS]
        try:
            size = status_of(self._path).st_size
        except OSError:  # it could not be opened, or was removed
            size = None
        return self._path, size, lost

    def end(self) -> None:
        """Write nothing any more: this is a copy of the program's process, of which nothing is recorded."""
        self._has_ended = True
        self.counters.keep_in_memory()

    @contextmanager
    def muted(self) -> Iterator[None]:
        """A context in which records of this thread are not written."""
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
        """Append one record. A failure is counted, and never raised into the program."""
        if self._has_ended or (self.is_muted and "str" not in metadata):
            return
        # torch writes each file name once, and does not repeat it in a forked child, which needs it as well.
        if "str" in metadata:
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
        """Append a record and add it to the digest, which takes records in the order of the stream."""
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
        if self._ends_in_mid_line:  # the last record was cut, since the disk was full: only it is lost
            data = b"\n" + data
        with FileSizeSignalBlocked():
            while data:
                written = write(self._descriptor, data)
                self._ends_in_mid_line = written < len(data)
                data = data[written:]
                if not written:
                    raise OSError(ENOSPC, "nothing was written")

    def _is_ours(self) -> bool:
        return is_same_file(self._descriptor, self._identity)

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
        # Hosts may share the folder, and have processes with the same id.
        stem = f"{f'rank_{rank[0]}_' if rank else ''}{name_of_this_process()}"
        # exec keeps the process id, and ids are reused. Where an uploader runs, files of earlier processes
        # may be at the target only: hence a number that no earlier process had.
        is_uploaded = os.path.lexists(f"{self._recording}/{UPLOADER_LOCK}")
        first = time_ns() // 10**6 if is_uploaded else 0
        for attempt in range(first, first + 1000):
            self._path = f"{self._recording}/{STREAM_PREFIX}{stem}_{attempt}{STREAM_SUFFIX}"
            try:
                file = create_private(self._path, O_WRONLY | O_APPEND | O_EXCL)
                break
            except FileExistsError:
                continue
        self._adopt(file)
        if rank is not None:
            from .rank_digest import DigestFile  # here, since other processes do not need the module

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
        self._descriptor = move_to_high_descriptor(file)
        self._identity = identity_of(self._descriptor)


def name_of_this_process() -> str:
    """A name for this process's files: a hash of its host's name, which is not disclosed, and its id."""
    host = md5(os.uname().nodename.encode(), usedforsecurity=False).hexdigest()
    return f"{int(host[:7], 16)}_{getpid()}"


def _prefix(path: str, line: int) -> str:
    now = time_ns()
    t = localtime(now // 1_000_000_000)
    return (
        f"V{t.tm_mon:02}{t.tm_mday:02} {t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02}"
        f".{now // 1000 % 1_000_000:06} {getpid()} {path}:{line}]"
    )
