"""Wait for the copies of the program's processes, in which torch.export is tried (`capture/exporting`)."""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from ..shared.names import EXPORT_CALL_SUFFIX, EXPORT_ENDED, EXPORT_FOLDER, EXPORT_RUNNING, EXPORT_STOP
from ..shared.safe_writing import open_private

_LOOKS_EVERY = 0.1  # seconds
_ENDS_WITHIN = 5.0  # seconds, once trials are to stop


def wait_for_trials(recording: Path, announce: Callable[[str], None]) -> None:
    """Return when all copies have ended; they begin once the program has. Interrupted, they are stopped."""
    folder = recording / EXPORT_FOLDER
    if not (folder / EXPORT_RUNNING).exists():
        return  # no module was called
    os.close(open_private(folder / EXPORT_ENDED))
    announce("trying to export what the program called")
    try:
        _wait(folder)
    finally:  # inputs of the program that no copy has read
        for file in folder.glob(f"*{EXPORT_CALL_SUFFIX}"):
            file.unlink(missing_ok=True)


def _wait(folder: Path) -> None:
    with open(folder / EXPORT_RUNNING, "rb") as running:
        try:
            while not _have_ended(running.fileno()):
                time.sleep(_LOOKS_EVERY)
        except BaseException:
            os.close(open_private(folder / EXPORT_STOP))
            until = time.monotonic() + _ENDS_WITHIN
            while not _have_ended(running.fileno()) and time.monotonic() < until:
                time.sleep(_LOOKS_EVERY)
            raise


def _have_ended(running: int) -> bool:
    try:
        fcntl.flock(running, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
