"""Begin a recording without `dynamo run` (`dynamo env`): make its folder and the file that says what runs."""

import os
import sys
from collections.abc import Callable
from json import dumps
from time import strftime

from ... import __version__
from ...shared.masking import masked_arguments
from ...shared.names import PYTHON_PROCESSES_FILE, RUN_FILE, RUN_FORMAT, RUN_VERSION
from ...shared.settings import Settings
from ..primitives import O_EXCL, O_WRONLY, close, create_private, time_ns, write
from .stream import name_of_this_process


def begin_recording(settings: Settings, note_this_process: Callable[[str], None]) -> None:
    """Make the folder and its run file, unless another process has made them already.

    The process that makes the folder is noted in it here; those that find it are when they begin (`arm.py`).
    """
    folder = settings.recording
    os.makedirs(folder, 0o700, exist_ok=True)
    if not os.path.lexists(f"{folder}/{RUN_FILE}"):
        _write_run_file(folder, settings)
    try:
        close(create_private(f"{folder}/{PYTHON_PROCESSES_FILE}", O_WRONLY | O_EXCL))
        note_this_process(folder)
    except FileExistsError:
        pass  # this process found the folder when it began, or another one made it at the same moment


def _write_run_file(folder: str, settings: Settings) -> None:
    """Write the file in one step: only one of several processes does, and a reader never sees half of it."""
    unfinished = f"{folder}/{RUN_FILE}.{name_of_this_process()}.part"
    file = create_private(unfinished, O_WRONLY | O_EXCL)
    try:
        write(file, (dumps(_description(settings), indent=2) + "\n").encode())
    finally:
        close(file)
    try:
        os.link(unfinished, f"{folder}/{RUN_FILE}")
    except FileExistsError:
        pass
    finally:
        os.unlink(unfinished)


def _description(settings: Settings) -> dict[str, object]:
    choices = settings._asdict()
    del choices["recording"]
    return {
        "format": RUN_FORMAT,
        "version": RUN_VERSION,
        "dynamo": __version__,
        "program": _name_of_program(),
        "command": masked_arguments(sys.orig_argv),
        "cwd": os.getcwd(),
        "settings": choices,
        "launcher_pid": None,
        "started": strftime("%Y-%m-%dT%H:%M:%S%z"),
        "started_ns": time_ns(),
        "started_by": "environment",
        "ended_ns": None,
        "exit_code": None,
        "signal": None,
        "notes": [],
    }


def _name_of_program() -> str:
    """The name of the script without its suffix, or of the module that runs (`-m`)."""
    words = sys.orig_argv[1:]
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    script = next((word for word in words if not word.startswith("-")), "")
    return os.path.basename(script).removesuffix(".py") or "command"
