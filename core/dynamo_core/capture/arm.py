"""Wait, as lightly as possible, for the program to import torch; then start the probes.

This runs before the program's first line, where a module that is imported is the program's too: a `types.py`
or `typing.py` beside the script would never be found. So this file, and what it imports at once, imports
nothing that Python has not loaded by itself (os, sys, time).
"""

import os
import sys

from ..shared.launchers import with_job
from ..shared.names import ENGINE_FAILURE_PREFIX, PYTHON_PROCESSES_FILE, RECORDING_VARIABLE
from .import_hook import import_hook
from .primitives import (
    O_APPEND,
    O_CLOEXEC,
    O_NOFOLLOW,
    O_TRUNC,
    O_WRONLY,
    close,
    create_private,
    getpid,
    getppid,
    open_descriptor,
    time_ns,
    write,
)

recorded_to: str | None = None  # the folder that this process is recorded to


def arm() -> None:
    """Arrange for the engine to start when torch is imported, unless this process is a helper."""
    recording = os.environ.get(RECORDING_VARIABLE)
    if recording is None or _is_helper():
        return
    place = with_job(recording, os.environ, f"{os.uname().nodename}-{getpid()}-{time_ns() // 10**9}")
    if place != recording:  # child processes record there too, also where no launcher names their job
        os.environ[RECORDING_VARIABLE] = recording = place
    note_this_process(recording)
    # A copy: the program may clear the environment.
    start_when_torch_is_imported(dict(os.environ), time_ns())


def start_when_torch_is_imported(environment: dict[str, str], armed_ns: int | None) -> None:
    """Start the engine once torch is imported, at once if it already is; `environment` has the settings.

    `armed_ns` is the time, in nanoseconds since the epoch, if this is before the program's first line.
    """
    global recorded_to
    recorded_to = environment[RECORDING_VARIABLE]
    import_hook.when_imported("torch", lambda torch: _start_engine(environment, armed_ns))


def _is_helper() -> bool:
    """Whether this process runs none of the user's code: one of Inductor's workers, which import torch, or
    the process that tidies up after multiprocessing, which Python 3.14 starts for any pool of processes.

    Source: torch/_inductor/{compile_worker,autotune_process}; Lib/multiprocessing/resource_tracker.py.
    """
    return any(
        "/torch/_inductor/" in argument
        or argument.startswith(("torch._inductor.", "from multiprocessing.resource_tracker import "))
        for argument in sys.orig_argv[1:4]
    )


def note_this_process(recording: str) -> None:
    """Write this process's ids, so that the reader distinguishes "no torch" from "engine never started"."""
    try:
        flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        file = open_descriptor(f"{recording}/{PYTHON_PROCESSES_FILE}", flags)
        try:
            write(file, b"%d %d\n" % (getpid(), getppid()))
        finally:
            close(file)
    except OSError:  # the recording was removed, or no descriptor is left: the program must not notice
        pass


def _start_engine(environment: dict[str, str], armed_ns: int | None) -> None:
    try:
        from .isolation import StandardLibraryOnly

        with StandardLibraryOnly():
            from .engine import start
        start(environment, armed_ns, note_this_process)
    except Exception as error:
        _note_failure(environment[RECORDING_VARIABLE], error)


def _note_failure(recording: str, error: Exception) -> None:
    try:
        path = f"{recording}/{ENGINE_FAILURE_PREFIX}{getpid()}.txt"
        file = create_private(path, O_WRONLY | O_TRUNC)
        try:
            write(file, f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace"))
        finally:
            close(file)
    except Exception:
        pass
