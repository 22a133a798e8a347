"""One `dynamo run`: its checks, the environment of the program, the run file, and rerunning a recording.

A recording says with which command it was made, and somebody else's may name any command. So a recording is
only rerun if its provenance mark shows that this user made it on this machine since it was started.
"""

import os
import resource
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from .. import __version__
from ..caches.store import inductor_folder
from ..recording import files
from ..recording.files import read_run_file
from ..shared.bisection import BISECTED, bisection
from ..shared.errors import CannotRecord, CannotRunAgain, DynamoError
from ..shared.masking import masked_arguments
from ..shared.quick_dataclass import dataclass
from ..shared.settings import Settings
from ..shared.shown_paths import working_directory
from ..shared.text import printable
from .checks import check_autotune_file, check_backend, check_overrides, missing_compiler
from .process import Ending, Unattended, run
from .program import Program, check_notebook, check_python, default_python, ignores_environment

BOOTSTRAP_FOLDER = Path(__file__).resolve().parent.parent / "capture" / "bootstrap"


def environment_for(settings: Settings, inherited: Mapping[str, str]) -> dict[str, str]:
    """The program's environment: `inherited`, the settings, and the folder of our start-up code.

    The folder is first on PYTHONPATH, and stays there for child processes.
    """
    path = inherited.get("PYTHONPATH", "")
    entries = [entry for entry in path.split(os.pathsep) if entry != str(BOOTSTRAP_FOLDER)]
    rest = os.pathsep.join(entries)  # an empty entry means the working directory, so it is not removed
    python_path = str(BOOTSTRAP_FOLDER) + (os.pathsep + rest if rest else "")
    return {**inherited, **settings.to_environment(), "PYTHONPATH": python_path}


_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def rerun_note(program: Program, folder: Path) -> dict[str, Any]:
    """What a recording notes of its program for a rerun; no arguments where one of them is a secret."""
    arguments = list(program.arguments)
    has_no_secret = masked_arguments(arguments) == arguments and all(printable(a) == a for a in arguments)
    return {
        "arguments": arguments if has_no_secret else None,
        "is_python": program.is_python,
        "mark": provenance_mark(folder),
    }


def provenance_mark(folder: Path) -> str | None:
    """The provenance mark of a folder; None where it is not this user's, or the boot has no id.

    It is a digest of the boot's random id, the user and the folder's place on disk: nobody can make one up
    elsewhere, and it is not valid for a copy.
    """
    try:
        boot, place = _BOOT_ID.read_text(encoding="ascii").strip(), os.stat(folder)
    except (OSError, UnicodeDecodeError):
        return None
    if place.st_uid != os.getuid():
        return None
    return sha256(f"{boot}:{os.getuid()}:{place.st_dev}:{place.st_ino}".encode()).hexdigest()


@dataclass(frozen=True)
class Request:
    """A requested `dynamo run`. The recording in `settings` is filled in when it exists.

    If it `is_checked`, `record` does not look for its Python and its backends again.
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
    """A finished run. `notes` tell the user what may be unexpected in it."""

    recording: Path
    ending: Ending
    notes: list[str] = field(default_factory=list)


def checked(request: Request) -> Request:
    """The request with its Python and its backends found; DynamoError says which is missing."""
    python = check_python(request.python) if request.python else default_python()
    request.program.check()
    if request.program.is_notebook:
        check_notebook(request.program.arguments[0], python)
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

    `announce` gets notes for the user before the program starts; `follow(recording)`, if given, returns a
    function to call while the program runs. With `unattended`, it has no terminal. Raises DynamoError only
    before the program has started.
    """
    request = request if request.is_checked else checked(request)
    request.program.executable(
        request.python or default_python()
    )  # raises an error before the folder is made
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
    is_injected = ignores_environment(command) != "-S"  # with -S, our folder would stay on sys.path
    description = _description(request, settings, command)
    description["again"] = rerun_note(request.program, recording)
    try:
        files.write_run_file(recording, description | {"notes": notes})
        bisected = bisection(os.environ, str(inductor_folder(os.environ)))
        if bisected is not None:
            announce(f"torch's compiler bisector is active, {bisected}: {BISECTED}")
        for note in notes:
            announce(note)
        environment = environment_for(settings, os.environ) if is_injected else os.environ
        cpu_before = seconds_of_children()
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
        shutil.rmtree(recording, ignore_errors=True)  # nothing ran, so there is nothing to read
        raise
    cpu = seconds_of_children() - cpu_before
    end = {"ended_ns": time.time_ns(), **asdict(ending), "cpu_seconds": cpu, "notes": notes}
    try:
        files.write_run_file(recording, description | end)
    except CannotRecord as error:
        notes.append(str(error))
    return Outcome(recording, ending, notes)


def seconds_of_children() -> float:
    """The CPU time of this process's children that have ended, and of theirs that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        "cwd": working_directory(),
        "settings": choices,
        "launcher_pid": os.getpid(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "started_ns": time.time_ns(),
        "ended_ns": None,
        "exit_code": None,
        "signal": None,
    }


def rerun_request(folder: Path) -> Request:
    """The request with which a recording was made; CannotRunAgain says why it cannot be rerun."""
    if not os.path.lexists(folder):
        Program((str(folder),), is_python=True).check()  # it may be a script's name that is meant
    run = read_run_file(folder) if folder.is_dir() else None
    noted = None if run is None else run.get("again")
    if run is None or not isinstance(noted, dict):
        raise _cannot_rerun(folder, "it does not say how its program was run")
    mark = provenance_mark(folder)
    if mark is None or noted.get("mark") != mark:
        raise _cannot_rerun(folder, "it was not made here since this machine was started, or it is a copy")
    arguments = noted.get("arguments")
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise _cannot_rerun(
            folder, "its program had an argument that looks like a secret, which is not recorded"
        )
    if run.get("cwd") != os.getcwd():
        raise _cannot_rerun(
            folder, f"its program ran in {run.get('cwd')}, which is not the working directory"
        )
    try:
        settings = Settings.from_choices("", run["settings"])
        is_python = noted.get("is_python") is True
        python = str(run["command"][0]) if is_python else None
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise _cannot_rerun(folder, "it was made by another version of dynamo, or is damaged") from error
    if not arguments:
        raise _cannot_rerun(folder, "it does not say how its program was run")
    return Request(Program(tuple(arguments), is_python), settings, python=python)


def command_line(request: Request, python: str) -> str:
    """The command in shell syntax, to show before it runs."""
    return shlex.join(printable(part) for part in request.program.command(python))


def _cannot_rerun(folder: Path, why: str) -> CannotRunAgain:
    return CannotRunAgain(f"the program of {folder} cannot be run again: {why}; name the program instead")
