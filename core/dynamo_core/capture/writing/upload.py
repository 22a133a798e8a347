"""Have what is recorded carried elsewhere: start the process that does it, and give it time at the end.

It is no child of the program, which would meet it in `os.wait`, and has none of its files open.
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
from ...shared.names import CARRIED_PREFIX, CARRIER_LOCK, RECORDING_VARIABLE
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
_CARRY = "import sys; sys.path[0] = sys.argv[1]; from dynamo_core.upload import main; main()"


def start_carrying(settings: Settings) -> None:
    """Start the process, unless one is there for this folder on this host."""
    folder = settings.recording
    lock = create_private(f"{folder}/{CARRIER_LOCK}", O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    finally:
        close(lock)
    package = str(__spec__.origin).removesuffix("/dynamo_core/capture/writing/carried.py")
    environment = {name: value for name, value in os.environ.items() if name != RECORDING_VARIABLE}
    carrier = [sys.executable, "-c", _CARRY, package, folder, _target(settings), _own_name()]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    between = os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", _DETACHED, *carrier],
        environment,
        file_actions=nothing,
        setsigmask=(),
        setsigdef=(signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD),
    )
    os.waitpid(between, 0)


def wait_for_carrier(settings: Settings, stream: str) -> None:
    """Until what this process has recorded has arrived, or cannot, and no longer than ten seconds."""
    folder = settings.recording
    deadline = monotonic() + _LONGEST_WAIT
    size = status_of(stream).st_size
    carrier = _carrier_of(folder)
    if carrier is None:
        return
    asked_at = before = _passes(folder)
    os.kill(carrier, signal.SIGUSR1)
    while monotonic() < deadline and _carrier_of(folder) == carrier:
        passes = _passes(folder)
        # A pass that was under way when it was asked has not looked at all of the stream.
        if _arrived(folder, os.path.basename(stream)) >= size or passes >= before + 2:
            return
        if passes > asked_at:
            asked_at = passes
            os.kill(carrier, signal.SIGUSR1)
        sleep(0.05)


def _target(settings: Settings) -> str:
    return str(settings.carried_to).replace(JOB_IN_PATH, os.path.basename(settings.recording))


def _own_name() -> str:
    """Of the list of what arrived: of this host, and no other that carries to the same place."""
    host = md5(os.uname().nodename.encode(), usedforsecurity=False).hexdigest()
    return f"{int(host[:7], 16)}_{time_ns() // 10**6}"


def _carrier_of(folder: str) -> int | None:
    """The process that holds the lock; None where none does."""
    try:
        lock = open_descriptor(f"{folder}/{CARRIER_LOCK}", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return int(read(lock, 20) or b"0") or None
    finally:
        close(lock)
    return None


def _arrived(folder: str, name: str) -> int:
    rows = [each.get("files", {}).get(name, {}) for each in _lists(folder)]
    return max((int(row.get("arrived", 0)) for row in rows), default=0)


def _passes(folder: str) -> int:
    """Of all that have carried this folder."""
    return sum(int(each.get("passes", 0)) for each in _lists(folder))


def _lists(folder: str) -> list[dict[str, Any]]:
    found = []
    for name in os.listdir(folder):
        if name.startswith(CARRIED_PREFIX):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                found.append(json.load(file))
    return found
