"""The process that carries: one on each host for a recording, started by the first process that records.

It outlives the program, however that ends, until all has arrived or it has tried for long enough; then what
was carried is removed here, and what was not stays. SIGTERM and SIGUSR1 have it carry at once.
"""

import fcntl
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from ..shared.names import CARRIER_LOCK, PYTHON_PROCESSES_FILE
from .carrier import Carrier

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
    lock = os.open(spool / CARRIER_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
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
        carrier.give_up_pass(str(error))
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
            (spool / f"{CARRIER_LOCK}.error").write_text(f"{type(error).__name__}: {error}\n")
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
