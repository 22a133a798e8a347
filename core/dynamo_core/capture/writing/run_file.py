"""Begin a recording that no `dynamo run` has begun: the folder, and the word on what runs (`dynamo env`)."""

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
    """Whichever process comes first makes the folder and says what it runs; the others find both.

    It is noted among the processes of the folder, as those are that find it when they begin (`arm.py`).
    """
    folder = settings.recording
    os.makedirs(folder, 0o700, exist_ok=True)
    if not os.path.lexists(f"{folder}/{RUN_FILE}"):
        _write_run_file(folder, settings)
    try:
        close(create_private(f"{folder}/{PYTHON_PROCESSES_FILE}", O_WRONLY | O_EXCL))
        note_this_process(folder)
    except (
        FileExistsError
    ):  # then this process has found it when it began, or another came at the same moment
        pass


def _write_run_file(folder: str, settings: Settings) -> None:
    """In one step, so that of several processes one does, and a reader sees all of it."""
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
    """The script's name without its ending, or the module's."""
    words = sys.orig_argv[1:]
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    script = next((word for word in words if not word.startswith("-")), "")
    return os.path.basename(script).removesuffix(".py") or "command"
