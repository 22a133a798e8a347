"""Have the recording uploaded: start the process that does it, and give it time at the end of the program.

That process is not a child of the program, which would meet it in `os.wait`, and has none of its files open.
"""

import fcntl
import json
import os
import signal
import sys
from hashlib import md5
from time import monotonic, sleep
from typing import Any

from ...shared.launchers import JOB_IN_PATH
from ...shared.names import RECORDING_VARIABLE, UPLOAD_LIST_PREFIX, UPLOADER_LOCK
from ...shared.settings import Settings
from ..primitives import (
    O_CLOEXEC,
    O_NOFOLLOW,
    O_RDWR,
    close,
    create_private,
    open_descriptor,
    read,
    status_of,
    time_ns,
)

_LONGEST_WAIT = 10.0  # seconds at the end of a process
_DETACHED = "import os, sys; os.fork() and os._exit(0); os.setsid(); os.closerange(3, 65536); "
_DETACHED += "os.execv(sys.argv[1], sys.argv[1:])"
_UPLOAD = "import sys; sys.path[0] = sys.argv[1]; from dynamo_core.upload import main; main()"


def start_uploader(settings: Settings) -> None:
    """Start the process that uploads, unless one runs for this folder on this host already."""
    folder = settings.recording
    lock = create_private(f"{folder}/{UPLOADER_LOCK}", O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    finally:
        close(lock)
    import_folder = str(__spec__.origin).rpartition("/dynamo_core/capture/")[0]
    environment = {name: value for name, value in os.environ.items() if name != RECORDING_VARIABLE}
    uploader = [sys.executable, "-c", _UPLOAD, import_folder, folder, _target(settings), _name_of_list()]
    null_files = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    intermediate = os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", _DETACHED, *uploader],
        environment,
        file_actions=null_files,
        setsigmask=(),
        setsigdef=(signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD),
    )
    os.waitpid(intermediate, 0)


def wait_for_uploader(settings: Settings, stream: str) -> None:
    """Wait until this process's stream has arrived, or the uploader is gone, but at most ten seconds."""
    folder = settings.recording
    deadline = monotonic() + _LONGEST_WAIT
    size = status_of(stream).st_size
    uploader = _running_uploader(folder)
    if uploader is None:
        return
    requested_at = before = _passes(folder)
    os.kill(uploader, signal.SIGUSR1)
    while monotonic() < deadline and _running_uploader(folder) == uploader:
        passes = _passes(folder)
        # A pass that was in progress at the first request has not seen all of the stream.
        if _arrived_bytes(folder, os.path.basename(stream)) >= size or passes >= before + 2:
            return
        if passes > requested_at:
            requested_at = passes
            os.kill(uploader, signal.SIGUSR1)
        sleep(0.05)


def _target(settings: Settings) -> str:
    return str(settings.carried_to).replace(JOB_IN_PATH, os.path.basename(settings.recording))


def _name_of_list() -> str:
    """A name for this host's list of what has arrived, which no other host uses at the same target."""
    host = md5(os.uname().nodename.encode(), usedforsecurity=False).hexdigest()
    return f"{int(host[:7], 16)}_{time_ns() // 10**6}"


def _running_uploader(folder: str) -> int | None:
    """The id of the process that holds the lock; None where none does."""
    try:
        lock = open_descriptor(f"{folder}/{UPLOADER_LOCK}", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return int(read(lock, 20) or b"0") or None
    finally:
        close(lock)
    return None


def _arrived_bytes(folder: str, name: str) -> int:
    """How many bytes of a file have arrived."""
    rows = [each.get("files", {}).get(name, {}) for each in _lists(folder)]
    return max((int(row.get("arrived", 0)) for row in rows), default=0)


def _passes(folder: str) -> int:
    """How many passes the uploaders of this folder have made, all together."""
    return sum(int(each.get("passes", 0)) for each in _lists(folder))


def _lists(folder: str) -> list[dict[str, Any]]:
    """The lists of what has arrived, one of each uploader."""
    found = []
    for name in os.listdir(folder):
        if name.startswith(UPLOAD_LIST_PREFIX):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                found.append(json.load(file))
    return found
