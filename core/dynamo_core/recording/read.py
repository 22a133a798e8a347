"""Reads a recording, or any TORCH_TRACE log, and follows one that is being written."""

import os
import re
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import nullcontext
from dataclasses import is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from ..model import GROUPS, Process, Recording, Run
from ..shared.errors import DamagedRecording, NoRecording, NotARecording, os_errors_as
from ..shared.names import (
    CALLS_PREFIX,
    CALLS_SUFFIX,
    ENGINE_FAILURE_PREFIX,
    PYTHON_PROCESSES_FILE,
    RUN_FILE,
    STREAM_PREFIX,
    STREAM_SUFFIX,
    beside_stream,
)
from ..shared.similar_paths import did_you_mean_path
from ..shared.text import printable
from ..shared.validation import check_of, matches
from .build import ProcessBuilder
from .bundle_file import is_bundle, unpacked
from .calls import CALL_SAMPLES, assign_calls, last_stack, parse_calls
from .files import DEFAULT_FOLDER, LARGEST_PROCESSES_FILE, is_in_use, read_run_file
from .plain_files import is_plain_file, open_plain, other_kind, read_plain, size_of
from .ranks import FLIGHT_RECORDER, flight_recorder_dumps
from .remote import not_arrived, url_of
from .structured import Item
from .trace_format import Record, RecordParser
from .window import add_window

Progress = Callable[[int, int], None]  # bytes read, bytes in all

_CHUNK = 1 << 20  # bytes; one that fits the processor's cache is read and searched fastest
_LARGEST_UNPACKED = 4 << 30  # bytes; a small .gz, made to do harm, could unpack to any size
_MOST_GROWTH = 50  # of a .gz that is not small; torch's traces are packed to a tenth or a twentieth
_SMALL_UNPACKED = 64 << 20  # bytes
_FUTILE = 64 << 20  # bytes; a file without one record in so many is no trace
_LARGEST_CALLS_FILE = 40 << 20  # bytes; a page for each of 4096 callables, and the header
_LARGEST_FAILURE = 64 << 10  # bytes; a line
_MOST_KEPT = 48 << 20  # bytes of records of one process, kept to be read later
_LOG_SUFFIXES = (".log", ".log.gz")
# The name is from a record, which may be a stranger's: it must not lead out of the folder.
_CALLS_FILE = re.compile(re.escape(CALLS_PREFIX) + r"\w+" + re.escape(CALLS_SUFFIX))
_LINE = re.compile(rb"[^\n]+")


def read(path: Path, contents: Container[str] = frozenset(), progress: Progress | None = None) -> Recording:
    """The recording at `path`: a folder, one stream (`.gz` too), or a bundle.

    `contents` names the records whose text, which may be large, is wanted in the model. `progress` is called
    repeatedly with the number of bytes read and the number of bytes in all.

    Raises NoRecording (no such path), NotARecording (nothing of torch's in it) or DamagedRecording (nothing
    in it can be read). Of a recording that is damaged in part, the rest is read, and its `problems` say so.
    """
    recording, _ = read_keeping(path, contents, progress=progress)
    return recording


def read_keeping(
    path: Path,
    contents: Container[str] = frozenset(),
    kept: Container[str] = frozenset(),
    progress: Progress | None = None,
) -> "tuple[Recording, Follower]":
    """The recording and its follower: `Follower.read_kept` reads more of the records that are `kept`."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        hint = did_you_mean_path(str(path), DEFAULT_FOLDER)
        raise NoRecording(f"no such recording: {path}" + (f"; {hint}" if hint else "")) from None
    except OSError as error:
        raise DamagedRecording(f"cannot read {path}: {error.strerror}") from error
    with os_errors_as(DamagedRecording, f"cannot read {path}"):
        is_packed = is_bundle(path)
    with unpacked(path) if is_packed else nullcontext(path) as folder:
        follower = Follower(folder, contents, kept)
        follower.advance(progress)
        return replace(follower.finish(), path=path), follower


class Follower:
    """Reads a recording as it grows: call `new_items` or `advance` repeatedly, then `finish` once."""

    def __init__(
        self, path: Path, contents: Container[str] = frozenset(), kept: Container[str] = frozenset()
    ) -> None:
        self._path = path
        self._contents = contents
        self._names_kept = kept
        self._streams: dict[Path, _StreamFollower] = {}

    @property
    def processes(self) -> list[Process]:
        """The processes as read so far, with values that do not match the model's types."""
        return [follower.process for follower in self._streams.values()]

    def new_items(self) -> Iterator[tuple[Process, Item]]:
        """The items completed since the last call, process by process."""
        # As in `finish`, values that do not match the model's types are left out.
        return (found for found in self._read(None) if matches(found[1], type(found[1])))

    def advance(self, progress: Progress | None = None) -> None:
        """Read what has been written so far, for `finish`."""
        for _ in self._read(progress):
            pass

    def _read(self, progress: Progress | None) -> Iterator[tuple[Process, Item]]:
        streams = streams_of(self._path)
        for stream in streams:
            if stream not in self._streams:
                self._streams[stream] = _StreamFollower(stream, self._contents, self._names_kept)
        size = sum(size_of(stream) for stream in streams) if progress is not None else 0
        done_before = 0

        def note_progress(bytes_read: int) -> None:
            if progress is not None:
                progress(min(done_before + bytes_read, size), size)

        for stream in streams:
            yield from self._streams[stream].new_items(note_progress)
            done_before += self._streams[stream].file.bytes_read

    def read_kept(self, contents: Container[str]) -> list[Process] | None:
        """The processes, with these contents, from the `kept` records; None if those were too large to keep.

        Spares a second reading of a large recording, when only the first shows which contents are wanted.
        """
        followers = [self._streams[path] for path in sorted(self._streams)]
        if any(follower.kept is None for follower in followers):
            return None
        return [follower.read_kept(contents) for follower in followers]

    def finish(self) -> Recording:
        """The recording as read so far, checked."""
        followers = [self._streams[path] for path in sorted(self._streams)]
        for follower in followers:
            follower.finish()
        folder = self._path if self._path.is_dir() else self._path.parent
        run = run_of(self._path)
        is_wanted = FLIGHT_RECORDER in self._contents and self._path.is_dir()
        called, unread = flight_recorder_dumps(self._path) if is_wanted else ({}, [])
        failures = sorted(folder.glob(f"{ENGINE_FAILURE_PREFIX}*")) if run is not None else []
        self._refuse_what_is_no_recording(followers, run is not None)
        return Recording(
            path=self._path,
            run=run,
            processes=[follower.process for follower in followers],
            python_processes=_python_processes(folder) if run is not None else None,
            engine_failures=list(map(_engine_failure, failures)),
            not_arrived=tuple(not_arrived(folder)) if self._path.is_dir() else (),
            left_out=tuple(unread),
            called=called,
            url=url_of(self._path),
            is_running=folder.is_dir() and is_in_use(folder),
        )

    def _refuse_what_is_no_recording(self, followers: list["_StreamFollower"], has_run: bool) -> None:
        if has_run or any(follower.parser.records for follower in followers):
            return
        if not followers:
            raise NotARecording(
                f"{self._path} is no recording: it holds neither a dynamo run nor a torch trace"
            )
        for follower in followers:
            if follower.file.problem is not None:
                raise DamagedRecording(f"cannot read {follower.file.path}: {follower.file.problem}")
        if any(follower.parser.false_starts for follower in followers):
            raise DamagedRecording(f"{self._path}: not one record in it can be read")
        is_empty = not any(follower.parser.bytes_read for follower in followers)
        what = "is empty" if is_empty else "has no record of a torch trace in it"
        raise NotARecording(f"{self._path} {what}")


class _StreamFollower:
    """Reads the stream of one process into the model."""

    def __init__(self, path: Path, contents: Container[str], names_kept: Container[str]) -> None:
        self.file = _GrowingFile(path)
        self.kept: list[Record] | None = []  # None once they are larger than _MOST_KEPT
        self._names_kept = names_kept
        self._bytes_kept = 0
        self.process = Process(path)
        self.parser = RecordParser()
        self._builder = ProcessBuilder(self.process, contents)
        self._with_samples = CALL_SAMPLES in contents

    def new_items(self, note_progress: Callable[[int], None]) -> Iterator[tuple[Process, Item]]:
        begun_at = self.file.bytes_read
        while (data := self.file.read(self._wanted())) and not self._is_futile():
            for record in self.parser.feed(data):
                item = self._add(record)
                if item is not None:
                    yield self.process, item
            note_progress(self.file.bytes_read)
        last = self.parser.last_if_whole() if self.file.bytes_read > begun_at else None
        item = self._add(last) if last is not None else None
        if item is not None:
            yield self.process, item

    def finish(self) -> None:
        self.file.finish()
        last = self.parser.finish()
        if last is not None:
            self._add(last)
        self._builder.finish()
        drop_invalid_fields(self.process)
        self.process.health.damaged_records += self.parser.damaged
        if self.file.problem is not None:
            self.process.health.note_damage(self.file.problem)
        self._add_calls()
        if self.process.runtime.end is None:
            self.process.runtime.stopped_at = last_stack(self.file.path)
        add_window(self.process, self._builder.window_records, self.file.path.parent)

    def read_kept(self, contents: Container[str]) -> Process:
        process = Process(self.file.path)
        builder = ProcessBuilder(process, contents)
        for record in self.kept or ():
            builder.add(record)
        drop_invalid_fields(process)
        return process

    def _add(self, record: Record) -> Item | None:
        if self.kept is not None and (record.artifact_name or record.kind) in self._names_kept:
            self._bytes_kept += record.size
            detached = record.detached() if self._bytes_kept <= _MOST_KEPT else None
            if detached is None:
                self.kept = None
            else:
                self.kept.append(detached)
        return self._builder.add(record)

    def _wanted(self) -> int:
        """How many bytes to read: more for a large record, since all its pieces are joined each time."""
        return max(_CHUNK, self.parser.held // 4)

    def _is_futile(self) -> bool:
        return not self.parser.records and self.parser.bytes_read > _FUTILE

    def _add_calls(self) -> None:
        name = self.process.info.calls_file or _calls_file_of(self.file.path)
        if name is None or not _CALLS_FILE.fullmatch(name):
            return
        content = _small_file(self.file.path.with_name(name), _LARGEST_CALLS_FILE)
        calls = parse_calls(content, with_samples=self._with_samples) if content is not None else None
        if calls is None:
            what_is_wrong = "cannot be read" if content is None else "is damaged"
            self.process.health.calls_problem = f"its counters file {name} {what_is_wrong}"
            return
        self.process.health.lost_records = calls.lost_records
        self.process.health.last_errno = calls.last_errno
        self.process.runtime.overlap_seconds = calls.overlap_ns / 1e9
        self.process.runtime.compiling_in_calls_seconds = calls.compiling_ns / 1e9
        for index, times in assign_calls(self.process, calls):
            if index == self.process.runtime.step_marks_index:
                self.process.runtime.step_marks = times
            elif not _MAY_BE_OF_OWN_GRAPHS & self.process.health.failed_probes.keys():
                self.process.runtime.inherited.append(times)


def _calls_file_of(stream: Path) -> str | None:
    """The counters file of a process whose first record, which names it, is lost."""
    is_named_as_ours = stream.name.startswith(STREAM_PREFIX) and stream.name.endswith(STREAM_SUFFIX)
    return beside_stream(stream.name, CALLS_PREFIX, CALLS_SUFFIX) if is_named_as_ours else None


# If one of these probes failed, calls of an unknown graph need not be of a graph of the parent process.
_MAY_BE_OF_OWN_GRAPHS = frozenset({"graphs", "graph calls", "backward calls"})
# By far the most values; `PhaseBuilder` checks each of them.
_CHECKED_AS_THEY_ARE_BUILT = ("phases", "parallel_phases")


def drop_invalid_fields(process: Process) -> None:
    """Remove values that do not match the model's types, and count them as damage."""
    process.health.damaged_records += _drop_invalid_fields(process)


def _drop_invalid_fields(part: Any) -> int:
    """How many values were removed from a process, or a group of its fields."""
    dropped = 0
    for name, hint in _hints_of(cast(Any, type(part))).items():
        value = getattr(part, name)
        if name in _CHECKED_AS_THEY_ARE_BUILT:
            continue
        if isinstance(value, list):
            kept = list(filter(check_of(get_args(hint)[0]), value))
            dropped += len(value) - len(kept)
            value[:] = kept
        elif isinstance(value, dict):
            invalid_fields = [key for key in value if not matches({key: value[key]}, hint)]
            dropped += len(invalid_fields)
            for key in invalid_fields:
                del value[key]
        elif isinstance(value, GROUPS):
            dropped += _drop_invalid_fields(value)
        elif is_dataclass(value) and name != "whole" and not matches(value, hint):
            dropped += 1
            setattr(part, name, None)
    return dropped


@cache
def _hints_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


class _GrowingFile:
    """The bytes of a file that may still be written, unpacked if it is a `.gz`.

    The file is opened for each read, since a recording may have thousands of streams. `problem` says why the
    rest cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes_read = 0
        self.problem: str | None = None
        self._is_packed = path.suffix == ".gz"
        self._unpacker = _new_unpacker()
        self._packed = b""
        self._unpacked_bytes = 0

    def read(self, size: int) -> bytes:
        """At most `size` further bytes; empty if there are no more yet."""
        if self.problem is not None:
            return b""
        try:
            return self._unpack(size) if self._is_packed else self._read(size)
        except OSError as error:
            self.problem = error.strerror or str(error)
        except zlib.error as error:
            self.problem = f"it is not what gzip wrote: {error}"
        return b""

    def finish(self) -> None:
        """Note a `.gz` without its end as a problem."""
        is_cut = self.bytes_read and not self._unpacker.eof and not self._packed
        if self._is_packed and is_cut and self.problem is None:
            self.problem = "it ends before its gzip data do"

    def _read(self, size: int) -> bytes:
        with open_plain(self.path) as file:
            file.seek(self.bytes_read)
            data = file.read(size)
        self.bytes_read += len(data)
        return data

    def _unpack(self, size: int) -> bytes:
        data = b""
        while not data:
            self._packed = self._packed or self._read(_CHUNK)
            if self._unpacker.eof:  # another gzip member may follow, or padding
                self._packed = self._packed.lstrip(b"\0")
                self._unpacker = _new_unpacker() if self._packed else self._unpacker
            if not self._packed:
                break
            data = self._unpacker.decompress(self._packed, size)
            self._packed = self._unpacker.unconsumed_tail or self._unpacker.unused_data
        self._unpacked_bytes += len(data)
        if self._unpacked_bytes > _LARGEST_UNPACKED:
            self.problem = f"it unpacks to more than {_LARGEST_UNPACKED >> 30} GB"
        elif self._unpacked_bytes > max(_SMALL_UNPACKED, _MOST_GROWTH * self.bytes_read):
            self.problem = f"it unpacks to more than {_MOST_GROWTH} times its size"
        return data


def _new_unpacker() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)  # + 16: with the header and the checksum of gzip


def run_of(path: Path) -> Run | None:
    """The run of a recording in a folder; None for a plain torch trace."""
    run = read_run_file(path) if path.is_dir() else None
    return None if run is None else Run.of(run)


def streams_of(path: Path) -> list[Path]:
    """The streams to read: files with torch's names; else, without a run file, files with records."""
    with os_errors_as(DamagedRecording, f"cannot read {path}"):
        if not path.is_dir():
            target = path.resolve()  # a path from the command line may be a link
            return [target] if _is_plain_file(target) else []
        logs = [file for file in sorted(path.iterdir()) if file.name.endswith(_LOG_SUFFIXES)]
    streams = [file for file in logs if file.name.startswith(STREAM_PREFIX) and _is_plain_file(file)]
    if streams or os.path.lexists(path / RUN_FILE):
        return streams
    return [file for file in logs if is_plain_file(file) and _holds_records(file)]


def _is_plain_file(path: Path) -> bool:
    """Whether there is a plain file; NotARecording for a link, a pipe or a device."""
    try:
        kind = other_kind(path)
    except FileNotFoundError:
        return False
    if kind is not None:
        raise NotARecording(f"{path} is no file with a torch trace, but {kind}")
    return True


def _holds_records(file: Path) -> bool:
    """Whether a file begins as a torch trace does."""
    parser = RecordParser()
    return any(parser.feed(_GrowingFile(file).read(_CHUNK))) or parser.finish() is not None


def _small_file(path: Path, largest: int) -> bytes | None:
    """The content of a file beside the streams; None if it is missing or cannot be read."""
    try:
        return read_plain(path, largest)
    except OSError:
        return None


def _engine_failure(file: Path) -> str:
    try:
        return printable(read_plain(file, _LARGEST_FAILURE).decode("utf-8", "replace"))
    except OSError as error:
        return printable(f"{file.name} cannot be read: {error.strerror}")


def _python_processes(folder: Path) -> int | None:
    content = _small_file(folder / PYTHON_PROCESSES_FILE, LARGEST_PROCESSES_FILE)
    return None if content is None else len({line[0] for line in _LINE.finditer(content)})
