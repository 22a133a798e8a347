"""Whether a recording is still being written: two runs in one folder would be read as one.

The launcher holds a lock on the folder, which goes with the process however it ends. A program that outlives
its launcher is known by its environment, which names the recording (/proc, the user's own processes).
"""

import fcntl
import os
from pathlib import Path
from typing import Any

from ..shared.errors import CannotRecord
from ..shared.names import PYTHON_PROCESSES_FILE, RECORDING_VARIABLE
from .plain_files import read_plain

LARGEST_PROCESSES_FILE = 16 << 20  # bytes; a million processes


def claim(folder: Path, run: dict[str, Any] | None) -> int:
    """Take the folder for a run, as long as the descriptor is open; CannotRecord if somebody writes there.

    `run` is what is known of the run that the folder holds.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not _lock(descriptor, fcntl.LOCK_EX):
            pid = (run or {}).get("launcher_pid")
            _refuse(folder, f"pid {pid}" if isinstance(pid, int) else "another dynamo run")
        for pid in _processes_that_record_to(folder):
            _refuse(folder, f"pid {pid}")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_in_use(folder: Path) -> bool:
    """Whether a launcher is at it now; False where that cannot be known."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _refuse(folder: Path, whom: str) -> None:
    raise CannotRecord(f"{folder} is in use by {whom}; choose another -o, or wait until that run has ended")


def _lock(descriptor: int, kind: int) -> bool:
    """Whether nobody else has it; on a file system without locks, nobody has."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _processes_that_record_to(folder: Path) -> list[int]:
    """Those of the Python processes that the recording lists which are still there."""
    try:
        lines = read_plain(folder / PYTHON_PROCESSES_FILE, LARGEST_PROCESSES_FILE).split(b"\n")
    except OSError:
        return []
    pids = {int(first) for first, *_ in map(bytes.split, filter(None, lines)) if first.isdigit()}
    real = os.path.realpath(folder)
    return [pid for pid in sorted(pids) if _recording_of(pid) == real]


def _recording_of(pid: int) -> str | None:
    begin = os.fsencode(f"{RECORDING_VARIABLE}=")
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is somebody else's
        return None
    found = [variable for variable in variables if variable.startswith(begin)]
    return os.path.realpath(os.fsdecode(found[0][len(begin) :])) if found else None
