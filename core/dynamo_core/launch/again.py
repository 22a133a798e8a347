"""Run the program of a recording once more: only one that was recorded here, by this user (`marks.py`)."""

import os
import shlex
from pathlib import Path

from ..checks.program import Program
from ..recording.files import read_run_file
from ..shared.errors import CannotRunAgain
from ..shared.settings import Settings
from ..shared.untrusted import printable
from .marks import mark_of
from .run import Request


def request_again(folder: Path) -> Request:
    """What was asked for when this recording was made; CannotRunAgain says why that is not known."""
    run = read_run_file(folder) if folder.is_dir() else None
    noted = None if run is None else run.get("again")
    if run is None or not isinstance(noted, dict):
        raise _not_again(folder, "it does not say how its program was run")
    mark = mark_of(folder)
    if mark is None or noted.get("mark") != mark:
        raise _not_again(folder, "it was not made here since this machine was started, or it is a copy")
    arguments = noted.get("arguments")
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise _not_again(
            folder, "its program had an argument that looks like a secret, which is not recorded"
        )
    if run.get("cwd") != os.getcwd():
        raise _not_again(folder, f"its program ran in {run.get('cwd')}, which is not the working directory")
    try:
        settings = Settings.from_choices("", run["settings"])
        is_python = noted.get("is_python") is True
        python = str(run["command"][0]) if is_python else None
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise _not_again(folder, "it was made by another version of dynamo, or is damaged") from error
    if not arguments:
        raise _not_again(folder, "it does not say how its program was run")
    return Request(Program(tuple(arguments), is_python), settings, python=python)


def command_line(request: Request, python: str) -> str:
    """The command as one would type it, to be shown before it runs."""
    return shlex.join(printable(part) for part in request.program.command(python))


def _not_again(folder: Path, why: str) -> CannotRunAgain:
    return CannotRunAgain(f"the program of {folder} cannot be run again: {why}; name the program instead")
