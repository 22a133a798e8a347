"""Copy the files of a recording, as they grow, to a folder of an fsspec file system; and say what arrived.

Files are copied whole: object stores cannot append. So that a long stream is not copied again and again, a
file rests for a multiple of the time that its copy took, but for the last time. What arrived of which file
stands in a list beside them, here and there, so that a reader can name what is missing.
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

_RESTS = 20  # so many times what its last copy took
_OF_THIS_HOST = (UPLOADER_LOCK, UPLOAD_LIST_PREFIX, PYTHON_PROCESSES_FILE)
_UNFINISHED = (".new", ".part")


class Files(Protocol):
    """What is needed of an fsspec file system."""

    def pipe_file(self, path: str, value: bytes) -> None:
        """Write a file, in one step where the store can do that."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a folder, where the store has such."""

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""


@dataclass
class Carried:
    """One file: its size here when it was last looked at, what of it arrived, and why the rest did not."""

    size: int = 0
    arrived: int = 0
    error: str | None = None


class Carrier:
    """Carries one folder. `name` tells apart the lists of several that carry to the same place."""

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
        self._carried: dict[str, Carried] = {}
        self._seen: dict[str, str] = {}  # what the content was, when it was copied
        self._not_before: dict[str, float] = {}
        self._is_there = False
        self._list_that_arrived = ""
        self._passes = 0

    def carry(self, *, is_last: bool = False) -> bool:
        """Copy what has changed; whether all of it arrived. Never raises: what went wrong is in the list."""
        for file in self._to_carry():
            if is_last or self._clock() >= self._not_before.get(file.name, 0.0):
                self._carry_file(file)
        is_whole = all(each.error is None and each.arrived == each.size for each in self._carried.values())
        return self._carry_list(is_finished=is_last) and is_whole

    def abort_pass(self, why: str) -> None:
        """A pass was ended from outside: say here of what has not arrived that it has not."""
        for each in self._carried.values():
            if each.arrived < each.size or each.error is not None:
                each.error = why
        self._passes += 1
        with suppress(OSError):
            self._keep_list_here()

    def _to_carry(self) -> list[Path]:
        return [
            file
            for file in sorted(self._spool.iterdir())
            if file.is_file()
            and not file.name.startswith(_OF_THIS_HOST)
            and not file.name.endswith(_UNFINISHED)
        ]

    def _carry_file(self, file: Path) -> None:
        began = self._clock()
        known = self._carried.setdefault(file.name, Carried())
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
        self._not_before[file.name] = ended + _RESTS * (ended - began)

    def _state(self, file: Path, content: bytes) -> str:
        """Counters are mapped into memory: neither their size nor their time tells that they have changed."""
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

    def _carry_list(self, *, is_finished: bool) -> bool:
        there = json.dumps({**self._content(), "finished": is_finished}, indent=1)
        self._passes += 1
        try:
            self._keep_list_here()
            if there != self._list_that_arrived:
                self._put(self._list, there.encode())
                self._list_that_arrived = there
        except (
            Exception
        ):  # a reader then knows of no file that is missing, and that this list is not finished
            return False
        return True

    def _content(self) -> dict[str, Any]:
        files = {name: asdict(each) for name, each in sorted(self._carried.items())}
        return {"format": "dynamo-carried", "version": 1, "files": files}

    def _keep_list_here(self) -> None:
        here = json.dumps({**self._content(), "passes": self._passes})
        replace_in_one_step(self._spool / self._list, here.encode())


# The process that carries: one on each host for a recording, started by the first process that records.
#
# It outlives the program, however that ends, until all has arrived or it has tried for long enough; then what
# was carried is removed here, and what was not stays. SIGTERM and SIGUSR1 have it carry at once.


INTERVAL = 5.0  # seconds between two passes
_LOOKS_EVERY = 0.5  # seconds: whether a process has ended
_TRIES_FOR = 300.0  # seconds after the last process has ended
_HURRY = {signal.SIGTERM, signal.SIGUSR1}
_LONGEST_PASS = 600  # seconds: a store that does not answer, and whose library waits for ever


class _TookTooLong(BaseException):
    """A pass. No error of a file: the pass ends."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise _TookTooLong(f"the store did not answer within {_LONGEST_PASS} s")


def main() -> None:
    """Carry the folder that the command line names to the URL that it names."""
    spool, url, name = Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    signal.pthread_sigmask(signal.SIG_BLOCK, {*_HURRY, signal.SIGINT, signal.SIGHUP})
    signal.signal(signal.SIGALRM, _too_long)
    lock = os.open(spool / UPLOADER_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another one has come first
        return
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    _carry_until_the_end(spool, url, name)


def _carry_until_the_end(spool: Path, url: str, name: str) -> None:
    carrier = _carrier(spool, url, name)
    known: dict[int, str] = {}
    next_pass, pause = 0.0, INTERVAL
    ended_at: float | None = None
    is_asked = False
    while True:
        is_over = not _some_live(spool, known)
        if not is_over:
            ended_at = None
        elif ended_at is None:
            ended_at, next_pass = time.monotonic(), 0.0
        if is_asked or time.monotonic() >= next_pass:
            carrier = carrier or _carrier(spool, url, name)
            arrived = carrier is not None and _pass(carrier, is_last=is_over)
            if is_over and arrived and not _some_live(spool, known):
                shutil.rmtree(spool, ignore_errors=True)
                with suppress(OSError):  # another job's is in it
                    spool.parent.rmdir()
                return
            pause = INTERVAL if arrived else min(2 * pause, 60.0)
            next_pass = time.monotonic() + pause
        if ended_at is not None and time.monotonic() - ended_at > _TRIES_FOR:
            return
        is_asked = signal.sigtimedwait(_HURRY, _LOOKS_EVERY) is not None


def _pass(carrier: Carrier, *, is_last: bool) -> bool:
    signal.alarm(_LONGEST_PASS)
    try:
        return carrier.carry(is_last=is_last)
    except _TookTooLong as error:
        carrier.abort_pass(str(error))
        return False
    except OSError:  # the folder is gone
        return False
    finally:
        signal.alarm(0)


def _carrier(spool: Path, url: str, name: str) -> Carrier | None:
    """None where the file system cannot be made now: no library, or no credentials."""
    try:
        from fsspec.core import url_to_fs

        files, target = url_to_fs(url)
    except Exception as error:
        with suppress(OSError):
            (spool / f"{UPLOADER_LOCK}.error").write_text(f"{type(error).__name__}: {error}\n")
        return None
    return Carrier(spool, files, target, name)


def _some_live(spool: Path, known: dict[int, str]) -> bool:
    """Whether a process that records here is still there; an id that was given to another does not count."""
    try:
        lines = (spool / PYTHON_PROCESSES_FILE).read_bytes().splitlines()
    except OSError:
        return False
    pids = {int(line.split()[0]) for line in lines if line.split()[:1] and line.split()[0].isdigit()}
    lives = [_lives(pid, known) for pid in pids]  # each is looked at, so that it is known again
    return any(lives)


def _lives(pid: int, known: dict[int, str]) -> bool:
    try:
        state, *others = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        known.setdefault(pid, "")
        return False
    began = others[18].decode()  # proc(5): starttime, field 22
    return known.setdefault(pid, began) == began and state != b"Z"
