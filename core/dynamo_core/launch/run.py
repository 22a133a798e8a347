"""One `dynamo run`, from the checks before it to the last word in the recording."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..checks.autotune_check import check_autotune_file
from ..checks.backend_check import check_backend, missing_compiler
from ..checks.override_check import check_overrides
from ..checks.program import Program, check_python, default_python, ignores_environment
from ..recording import files
from ..shared.errors import CannotRecord, DynamoError
from ..shared.masking import masked_arguments
from ..shared.quick_dataclass import dataclass
from ..shared.settings import Settings
from .environment import environment_for
from .marks import noted_to_run_again
from .process import Ending, run
from .unattended import Unattended


@dataclass(frozen=True)
class Request:
    """What the user asked `dynamo run` for. The recording of `settings` is filled in when it exists.

    Where it `is_checked`, `record` need not look for its Python and its backends again.
    """

    program: Program
    settings: Settings
    output: Path | None = None
    replace: bool = False
    python: str | None = None
    stdout_to_stderr: bool = False
    is_checked: bool = False


@dataclass
class Outcome:
    """A finished run. `notes` are for the user: what may have gone otherwise than expected."""

    recording: Path
    ending: Ending
    notes: list[str] = field(default_factory=list)


def checked(request: Request) -> Request:
    """The request with its Python and its backends found; DynamoError says which is not there."""
    python = check_python(request.python) if request.python else default_python()
    request.program.check()
    settings = request.settings
    if settings.capture != "none":
        settings = check_backend(settings, request.program, python)
    settings = check_overrides(settings, request.program, python)
    settings = check_autotune_file(settings)
    return replace(request, python=python, settings=settings, is_checked=True)


def record(
    request: Request,
    *,
    announce: Callable[[str], None],
    follow: Callable[[Path], Callable[[], None]] | None = None,
    unattended: Unattended | None = None,
) -> Outcome:
    """Run the program and record it.

    `announce` gets what must be said before the program starts; `follow(recording)`, if given, returns what
    is to be called while the program runs. With `unattended`, nobody watches it. Raises DynamoError only
    before the program has started.
    """
    request = request if request.is_checked else checked(request)
    request.program.executable(request.python or default_python())  # an error, before there is a folder
    new = files.create(request.output, request.program.name, replace=request.replace)
    try:
        return _record_to(new.folder, request, announce, follow, unattended)
    finally:
        new.release()


def _record_to(
    recording: Path,
    request: Request,
    announce: Callable[[str], None],
    follow: Callable[[Path], Callable[[], None]] | None,
    unattended: Unattended | None,
) -> Outcome:
    python = request.python or default_python()
    settings = request.settings._replace(recording=str(recording))
    command, executable = request.program.command(python), request.program.executable(python)
    notes = _notes_before(command, settings)
    is_injected = ignores_environment(command) != "-S"  # which would leave our folder on sys.path
    description = _description(request, settings, command)
    description["again"] = noted_to_run_again(request.program, recording)
    try:
        files.write_run_file(recording, description | {"notes": notes})
        for note in notes:
            announce(note)
        environment = environment_for(settings, os.environ) if is_injected else os.environ
        if unattended is not None:
            ending = unattended.run(executable, command, environment)
        else:
            ending = run(
                executable,
                command,
                environment,
                stdout_to_stderr=request.stdout_to_stderr,
                while_running=follow(recording) if follow else None,
            )
    except DynamoError:
        shutil.rmtree(recording, ignore_errors=True)  # nothing ran, so there is nothing to keep
        raise
    end = {"ended_ns": time.time_ns(), **asdict(ending), "notes": notes}
    try:
        files.write_run_file(recording, description | end)
    except CannotRecord as error:
        notes.append(str(error))
    return Outcome(recording, ending, notes)


def _notes_before(command: list[str], settings: Settings) -> list[str]:
    notes = []
    flag = ignores_environment(command)
    if flag is not None:
        notes.append(f"python {flag} switches the recording off: it ignores what dynamo adds to PYTHONPATH")
    if settings.capture != "none" and any(choice.name == "inductor" for choice in settings.choices()):
        problem = missing_compiler()
        if problem is not None:
            notes.append(problem)
    return notes


def _description(request: Request, settings: Settings, command: list[str]) -> dict[str, Any]:
    choices = settings._asdict()
    del choices["recording"]
    return {
        "dynamo": __version__,
        "program": request.program.name,
        "command": masked_arguments(command),
        "dynamo_argv": masked_arguments(sys.argv),
        "cwd": _working_directory(),
        "settings": choices,
        "launcher_pid": os.getpid(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "started_ns": time.time_ns(),
        "ended_ns": None,
        "exit_code": None,
        "signal": None,
    }


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None
