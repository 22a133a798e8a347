"""Open a recording, or anybody's TORCH_TRACE log, and follow one that is being written."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import DamagedRecording, NoRecording, NotARecording
from ..model import Process, Recording
from ..names import (
    CALLS_PREFIX,
    CALLS_SUFFIX,
    ENGINE_FAILURE_PREFIX,
    PYTHON_PROCESSES_FILE,
    STREAM_PREFIX,
)
from ..untrusted import printable
from .build import Item, ProcessBuilder
from .calls import parse_calls
from .files import read_run_file
from .records import RecordParser

_LARGEST_UNPACKED = 4 << 30  # bytes; what a small .gz can grow to is up to who made it
# The name comes from a record, which may be a stranger's: a plain file beside the stream, and nothing else.
_CALLS_FILE = re.compile(re.escape(CALLS_PREFIX) + r"\w+" + re.escape(CALLS_SUFFIX))


def read(path: Path) -> Recording:
    """The recording at `path`: a folder, or one stream (`.gz` too).

    Raises NoRecording (no such path), NotARecording (nothing of torch's in it) or DamagedRecording (nothing
    in it can be read). A recording that is damaged in part is read as far as it goes, and says so.
    """
    if not path.exists():
        raise NoRecording(f"no such recording: {path}")
    follower = Follower(path)
    for _ in follower.new_items():
        pass
    return follower.finish()


class Follower:
    """Reads a recording as it grows. `new_items` may be called as often as wanted, then `finish` once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._streams: dict[Path, _StreamFollower] = {}

    def new_items(self) -> Iterator[tuple[Process, Item]]:
        """What has been completed since the last call, process by process."""
        for stream in _streams(self._path):
            if stream not in self._streams:
                self._streams[stream] = _StreamFollower(stream)
            yield from self._streams[stream].new_items()

    def finish(self) -> Recording:
        """The whole recording as it stands now."""
        followers = [self._streams[path] for path in sorted(self._streams)]
        for follower in followers:
            follower.finish()
        folder = self._path if self._path.is_dir() else self._path.parent
        run = read_run_file(folder) if self._path.is_dir() else None
        self._refuse_what_is_no_recording(followers, run is not None)
        return Recording(
            path=self._path,
            run=run,
            processes=[follower.process for follower in followers],
            python_processes=_python_processes(folder) if run is not None else None,
            engine_failures=[
                printable(file.read_text(errors="replace"))
                for file in sorted(folder.glob(f"{ENGINE_FAILURE_PREFIX}*"))
                if run is not None and file.is_file()
            ],
        )

    def _refuse_what_is_no_recording(self, followers: list["_StreamFollower"], has_run: bool) -> None:
        if has_run:
            return
        if not followers:
            raise NotARecording(
                f"{self._path} is no recording: it holds neither a dynamo run nor a torch trace"
            )
        if not any(follower.parser.records for follower in followers):
            if any(follower.parser.starts for follower in followers):
                raise DamagedRecording(f"{self._path}: not one record in it can be read")
            size = sum(follower.parser.bytes_read for follower in followers)
            what = "has no record of a torch trace in it" if size else "is empty"
            raise NotARecording(f"{self._path} {what}")


class _StreamFollower:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self.process = Process(path)
        self.parser = RecordParser()
        self._builder = ProcessBuilder(self.process)

    def new_items(self) -> Iterator[tuple[Process, Item]]:
        for record in self.parser.feed(self._new_bytes()):
            item = self._builder.add(record)
            if item is not None:
                yield self.process, item

    def finish(self) -> None:
        for record in self.parser.finish():
            self._builder.add(record)
        self.process.damaged_records += self.parser.damaged
        self._add_calls()

    def _new_bytes(self) -> bytes:
        try:
            if self._path.suffix == ".gz":
                if self._offset:
                    return b""
                self._offset = 1
                with gzip.open(self._path) as compressed:
                    return compressed.read(_LARGEST_UNPACKED)
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedRecording(f"cannot read {self._path}: {error}") from error
        self._offset += len(data)
        return data

    def _add_calls(self) -> None:
        name = self.process.info.get("calls_file")
        if not isinstance(name, str) or not _CALLS_FILE.fullmatch(name):
            return
        file = self._path.with_name(name)
        try:
            calls = parse_calls(file.read_bytes()) if file.is_file() else None
        except OSError:
            return
        if calls is None:
            return
        self.process.lost_records = calls.lost_records
        self.process.last_errno = calls.last_errno
        own = {graph.calls_index: graph for graph in self.process.graphs}
        for index, (count, nanoseconds) in enumerate(calls.graphs):
            if index in own:
                own[index].calls, own[index].host_seconds = count, nanoseconds / 1e9
            else:
                self.process.inherited_calls += count
                self.process.inherited_seconds += nanoseconds / 1e9


def _streams(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(
        file
        for file in path.glob(f"{STREAM_PREFIX}*")
        if file.name.endswith((".log", ".log.gz")) and file.is_file()
    )


def _python_processes(folder: Path) -> int | None:
    file = folder / PYTHON_PROCESSES_FILE
    if not file.is_file():
        return None
    try:
        lines = file.read_text(errors="replace").split("\n")
    except OSError:
        return None
    return len({line for line in lines if line})
