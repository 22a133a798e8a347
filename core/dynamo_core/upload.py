"""Uploads the files of a recording, as they grow, to a folder of an fsspec file system.

Files are copied whole, since object stores cannot append. So that a long stream is not copied again and
again, the pause until its next copy is a multiple of the time of the last one, except before the last copy.
How much of each file has arrived is in a list beside the files, here and there: a reader can name what is
missing.

One process on each host uploads a recording; the first process that records starts it. It outlives the
program until all files have arrived, or it has tried for long enough. Then it removes the files that arrived;
others stay. On SIGTERM and SIGUSR1 it uploads at once.
"""

import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import md5
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from .shared.names import (
    PYTHON_PROCESSES_FILE,
    RUN_FILE,
    UPLOAD_LIST_PREFIX,
    UPLOAD_LIST_SUFFIX,
    UPLOADER_LOCK,
)
from .shared.safe_writing import replace_in_one_step

_PAUSE_FACTOR = 20  # the pause after a copy, in durations of the copy
_LOCAL_FILES = (UPLOADER_LOCK, UPLOAD_LIST_PREFIX, PYTHON_PROCESSES_FILE)
_UNFINISHED = (".new", ".part")


class Files(Protocol):
    """The part of an fsspec file system that is used here."""

    def pipe_file(self, path: str, value: bytes) -> None:
        """Write a file, atomically where the store supports it."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a folder, where the store has folders."""

    def exists(self, path: str) -> bool:
        """Whether the file exists."""


@dataclass
class UploadedFile:
    """A file: its size here when it was last read, how many bytes arrived, and why the rest did not."""

    size: int = 0
    arrived: int = 0
    error: str | None = None


class Uploader:
    """Uploads one folder. `name` distinguishes the lists of several hosts that upload to the same place."""

    def __init__(
        self,
        spool: Path,
        files: Files,
        target: str,
        name: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spool = spool
        self._files = files
        self._target = target.rstrip("/")
        self._list = f"{UPLOAD_LIST_PREFIX}{name}{UPLOAD_LIST_SUFFIX}"
        self._clock = clock
        self._uploaded: dict[str, UploadedFile] = {}
        self._seen: dict[str, str] = {}  # the state of the content that was copied, by name
        self._not_before: dict[str, float] = {}
        self._is_there = False
        self._list_that_arrived = ""
        self._passes = 0

    def upload(self, *, is_last: bool = False) -> bool:
        """Copy changed files; whether all of them arrived. Never raises: errors are in the list."""
        for file in self._files_to_upload():
            if is_last or self._clock() >= self._not_before.get(file.name, 0.0):
                self._upload_file(file)
        is_whole = all(file.error is None and file.arrived == file.size for file in self._uploaded.values())
        return self._upload_list(is_finished=is_last) and is_whole

    def abort_pass(self, why: str) -> None:
        """Note that a pass was ended from outside, in the local list, for the files that have not arrived."""
        for file in self._uploaded.values():
            if file.arrived < file.size or file.error is not None:
                file.error = why
        self._passes += 1
        with suppress(OSError):
            self._keep_list_here()

    def _files_to_upload(self) -> list[Path]:
        return [
            file
            for file in sorted(self._spool.iterdir())
            if file.is_file()
            and not file.name.startswith(_LOCAL_FILES)
            and not file.name.endswith(_UNFINISHED)
        ]

    def _upload_file(self, file: Path) -> None:
        began = self._clock()
        known = self._uploaded.setdefault(file.name, UploadedFile())
        try:
            content = file.read_bytes()
            known.size = len(content)
            state = self._state(file, content)
            if self._seen.get(file.name) == state:
                return
            self._put(file.name, content, only_new=file.name == RUN_FILE)
        except Exception as error:  # whatever a file system's library raises
            known.error = f"{type(error).__name__}: {error}"[:300]
            return
        known.arrived, known.error = len(content), None
        self._seen[file.name] = state
        ended = self._clock()
        self._not_before[file.name] = ended + _PAUSE_FACTOR * (ended - began)

    def _state(self, file: Path, content: bytes) -> str:
        """A mark of the content. Counters are mapped into memory: their size and time do not change."""
        if not file.name.endswith(".log"):
            return md5(content, usedforsecurity=False).hexdigest()
        return str(len(content))

    def _put(self, name: str, content: bytes, *, only_new: bool = False) -> None:
        if not self._is_there:
            self._files.makedirs(self._target, exist_ok=True)
            self._is_there = True
        path = f"{self._target}/{name}"
        if not (only_new and self._files.exists(path)):
            self._files.pipe_file(path, content)

    def _upload_list(self, *, is_finished: bool) -> bool:
        there = json.dumps({**self._content(), "finished": is_finished}, indent=1)
        self._passes += 1
        try:
            self._keep_list_here()
            if there != self._list_that_arrived:
                self._put(self._list, there.encode())
                self._list_that_arrived = there
        except Exception:  # the list that arrived before says that it is not finished
            return False
        return True

    def _content(self) -> dict[str, Any]:
        files = {name: asdict(file) for name, file in sorted(self._uploaded.items())}
        return {"format": "dynamo-carried", "version": 1, "files": files}

    def _keep_list_here(self) -> None:
        here = json.dumps({**self._content(), "passes": self._passes})
        replace_in_one_step(self._spool / self._list, here.encode())


INTERVAL = 5.0  # seconds between two passes
_POLL_INTERVAL = 0.5  # seconds, to find out whether a process has ended
_RETRY_TIME = 300.0  # seconds after the last process has ended
_HURRY = {signal.SIGTERM, signal.SIGUSR1}
_LONGEST_PASS = 600  # seconds; the library of a store that does not answer may wait for ever


class _TookTooLong(BaseException):
    """A pass took too long. It is no `Exception`, so that it ends the pass and not only a file."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise _TookTooLong(f"the store did not answer within {_LONGEST_PASS} s")


def main() -> None:
    """Upload the folder that the command line names to the URL that it names."""
    spool, url, name = Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    signal.pthread_sigmask(signal.SIG_BLOCK, {*_HURRY, signal.SIGINT, signal.SIGHUP})
    signal.signal(signal.SIGALRM, _too_long)
    lock = os.open(spool / UPLOADER_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another process uploads already
        return
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    _upload_until_the_end(spool, url, name)


def _upload_until_the_end(spool: Path, url: str, name: str) -> None:
    uploader = _uploader(spool, url, name)
    known: dict[int, str] = {}
    next_pass, pause = 0.0, INTERVAL
    ended_at: float | None = None
    is_requested = False
    while True:
        is_over = not _is_recording(spool, known)
        if not is_over:
            ended_at = None
        elif ended_at is None:
            ended_at, next_pass = time.monotonic(), 0.0
        if is_requested or time.monotonic() >= next_pass:
            uploader = uploader or _uploader(spool, url, name)
            arrived = uploader is not None and _pass(uploader, is_last=is_over)
            if is_over and arrived and not _is_recording(spool, known):
                shutil.rmtree(spool, ignore_errors=True)
                with suppress(OSError):  # another job's folder is in it
                    spool.parent.rmdir()
                return
            pause = INTERVAL if arrived else min(2 * pause, 60.0)
            next_pass = time.monotonic() + pause
        if ended_at is not None and time.monotonic() - ended_at > _RETRY_TIME:
            return
        is_requested = signal.sigtimedwait(_HURRY, _POLL_INTERVAL) is not None


def _pass(uploader: Uploader, *, is_last: bool) -> bool:
    signal.alarm(_LONGEST_PASS)
    try:
        return uploader.upload(is_last=is_last)
    except _TookTooLong as error:
        uploader.abort_pass(str(error))
        return False
    except OSError:  # the folder is gone
        return False
    finally:
        signal.alarm(0)


def _uploader(spool: Path, url: str, name: str) -> Uploader | None:
    """The uploader; None where its file system cannot be made now: no library, or no credentials."""
    try:
        from fsspec.core import url_to_fs

        files, target = url_to_fs(url)
    except Exception as error:
        with suppress(OSError):
            (spool / f"{UPLOADER_LOCK}.error").write_text(f"{type(error).__name__}: {error}\n")
        return None
    return Uploader(spool, files, target, name)


def _is_recording(spool: Path, known: dict[int, str]) -> bool:
    """Whether a process that records here still runs; a reused process id does not count."""
    try:
        lines = (spool / PYTHON_PROCESSES_FILE).read_bytes().splitlines()
    except OSError:
        return False
    pids = {int(line.split()[0]) for line in lines if line.split()[:1] and line.split()[0].isdigit()}
    lives = [_lives(pid, known) for pid in pids]  # a list: each call notes the start time in `known`
    return any(lives)


def _lives(pid: int, known: dict[int, str]) -> bool:
    try:
        state, *others = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        known.setdefault(pid, "")
        return False
    began = others[18].decode()  # proc(5): starttime, field 22
    return known.setdefault(pid, began) == began and state != b"Z"
