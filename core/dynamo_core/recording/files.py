"""Folders of recordings: find them, create a new one, and lock one that is being written.

The launcher holds a lock on the folder, which the system releases however the launcher ends. A program that
outlives its launcher is found by its environment, which names the recording (/proc, the user's own
processes). Without the lock, two runs could write to one folder and would be read as one.
"""

import fcntl
import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..shared.errors import CannotRecord, DamagedRecording, NoRecording, NotARecording, os_errors_as
from ..shared.names import (
    CALLS_PREFIX,
    CALLS_SUFFIX,
    DIGEST_PREFIX,
    DIGEST_SUFFIX,
    ENGINE_FAILURE_PREFIX,
    PROFILE_PREFIX,
    PROFILE_SUFFIX,
    PYTHON_PROCESSES_FILE,
    RECORDING_VARIABLE,
    RUN_FILE,
    RUN_FORMAT,
    RUN_VERSION,
    STACK_PREFIX,
    STACK_SUFFIX,
    STREAM_PREFIX,
    STREAM_SUFFIX,
    UPLOAD_LIST_PREFIX,
    UPLOAD_LIST_SUFFIX,
    UPLOADER_LOCK,
)
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import create_private
from ..shared.text import printable_json
from .bundle_file import is_bundle
from .plain_files import is_plain_file, open_plain, read_plain

LARGEST_PROCESSES_FILE = 16 << 20  # bytes; a million processes


def claim(folder: Path, run: dict[str, Any] | None) -> int:
    """Lock the folder for a run, as long as the returned descriptor is open; CannotRecord if it is in use.

    `run` is the run file of the recording that the folder holds.
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
    """Whether a launcher records to the folder now; False where that cannot be known."""
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
    """Take a lock; False if another process has it. On a file system without locks, nobody has."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _processes_that_record_to(folder: Path) -> list[int]:
    """The ids of the Python processes listed in the recording that still run."""
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


DEFAULT_FOLDER = Path(".dynamo")
_RUN_FIELDS: dict[str, tuple[type, ...]] = {
    "command": (list,),
    "notes": (list,),
    "started": (str,),
    "started_ns": (int,),
    "ended_ns": (int, type(None)),
    "exit_code": (int, type(None)),
    "signal": (int, type(None)),
}
_OUR_FILES = re.compile(
    rf"{re.escape(RUN_FILE)}(\.new|\.\w+\.part)?|{re.escape(PYTHON_PROCESSES_FILE)}|{ENGINE_FAILURE_PREFIX}\d+\.txt"
    rf"|{STREAM_PREFIX}\w+{re.escape(STREAM_SUFFIX)}|{CALLS_PREFIX}\w+{re.escape(CALLS_SUFFIX)}"
    rf"|{UPLOAD_LIST_PREFIX}\w+{re.escape(UPLOAD_LIST_SUFFIX)}|{UPLOADER_LOCK}(\.error)?"
    rf"|{STACK_PREFIX}\w+{re.escape(STACK_SUFFIX)}"
    rf"|{DIGEST_PREFIX}\w+{re.escape(DIGEST_SUFFIX)}(\.new)?"
    rf"|{PROFILE_PREFIX}\w+{re.escape(PROFILE_SUFFIX)}(\.new)?"
)
_TRACE_BEGINS = re.compile(rb"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.|\x1f\x8b")  # a record, or gzip
_LEAST_FREE_SPACE = 1 << 20  # bytes; a recording of one small graph takes about this much
_LARGEST_RUN_FILE = 4 << 20  # bytes; the command in it is cut long before
_ONLY_OURS = 0o700  # a recording has source lines and paths in it


@dataclass
class NewRecording:
    """An empty folder, which no other run can take until it is released or this process ends."""

    folder: Path
    _claim: int

    def release(self) -> None:
        """Release the lock on the folder."""
        os.close(self._claim)


def create(wanted: Path | None, program_name: str, *, replace: bool) -> NewRecording:
    """An empty folder for a new recording; CannotRecord if it cannot be had.

    Without `wanted`, it is `.dynamo/<program>-<date>-<time>`, made unique. With `replace`, an earlier
    recording at `wanted` is removed, but nothing else.
    """
    try:
        new = _create_default(program_name) if wanted is None else _create_named(wanted, replace)
        try:
            create_private(new.folder / PYTHON_PROCESSES_FILE, b"")
            free = os.statvfs(new.folder)
            if free.f_bavail * free.f_frsize < _LEAST_FREE_SPACE:
                raise CannotRecord(f"cannot record to {new.folder}: no space left on the device")
        except BaseException:
            new.release()
            raise
    except OSError as error:
        place = wanted if wanted is not None else DEFAULT_FOLDER
        hint = "" if wanted is not None else "; name another place with -o DIR"
        raise CannotRecord(f"cannot record to {place}: {error.strerror}{hint}") from error
    return new


def _create_default(program_name: str) -> NewRecording:
    parent = default_folder()
    stem = f"{program_name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for attempt in range(1, 1000):
        folder = parent / (stem if attempt == 1 else f"{stem}-{attempt}")
        try:
            folder.mkdir(_ONLY_OURS)
        except FileExistsError:
            continue
        return _claimed(folder, None)
    raise CannotRecord(f"cannot find an unused name for {parent / stem}")


def default_folder() -> Path:
    """The folder for recordings without a name of their own; created if it does not exist."""
    parent = DEFAULT_FOLDER.absolute()
    parent.mkdir(exist_ok=True)
    if not parent.is_symlink():  # its target may have other files, which git should not ignore
        with suppress(FileExistsError):  # also for a link to nowhere
            create_private(parent / ".gitignore", b"*\n")
    return parent


def _create_named(wanted: Path, replace: bool) -> NewRecording:
    folder = wanted.absolute()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(_ONLY_OURS, exist_ok=True)
    elif not folder.is_dir():
        raise CannotRecord(f"{wanted} exists and is no folder; choose another -o")
    is_ours = is_plain_file(folder / RUN_FILE)
    if not replace and any(folder.iterdir()):
        raise CannotRecord(f"{wanted} exists; choose another -o, or add -f to replace a recording")
    new = _claimed(folder, _run_or_none(folder) if is_ours else None)
    try:
        _empty(wanted, folder, is_ours)
    except BaseException:
        new.release()
        raise
    return new


def _empty(wanted: Path, folder: Path, is_ours: bool) -> None:
    """Remove the recording in a folder, and nothing else."""
    there = list(folder.iterdir())
    if there and not is_ours:
        raise CannotRecord(f"{wanted} exists and is no recording of ours: it is left alone")
    others = [file.name for file in there if not _OUR_FILES.fullmatch(file.name)]
    if others:
        raise CannotRecord(f"{wanted} holds {others[0]!r}, which is not ours: it is left alone")
    for file in there:
        file.unlink()


def remove(folder: Path) -> None:
    """Remove a recording; CannotRecord where it is in use, or its folder has other files in it."""
    with os_errors_as(CannotRecord, f"cannot remove {folder}"):
        if folder.is_symlink():
            raise CannotRecord(f"{folder} is a link, and stays")
        is_ours = is_plain_file(folder / RUN_FILE)
        claimed = _claimed(folder, _run_or_none(folder) if is_ours else None)
        try:
            _empty(folder, folder, is_ours)
            folder.rmdir()
        finally:
            claimed.release()


def _claimed(folder: Path, run: dict[str, Any] | None) -> NewRecording:
    claimed = claim(folder, run)
    with suppress(OSError):  # a folder of somebody else's, or a file system without modes
        os.fchmod(claimed, _ONLY_OURS)
    return NewRecording(folder, claimed)


def write_run_file(folder: Path, run: Mapping[str, Any]) -> None:
    """Write the run file in one step: a reader sees the old file or the new one."""
    content = json.dumps({"format": RUN_FORMAT, "version": RUN_VERSION, **run}, indent=2)
    temporary = folder / (RUN_FILE + ".new")
    with os_errors_as(CannotRecord, f"cannot write {folder / RUN_FILE}"):
        temporary.unlink(missing_ok=True)
        create_private(temporary, (content + "\n").encode())
        temporary.replace(folder / RUN_FILE)


def read_run_file(folder: Path) -> dict[str, Any] | None:
    """The content of the run file, checked; None where there is none, as in a plain torch trace."""
    path = folder / RUN_FILE
    try:
        text = read_plain(path, _LARGEST_RUN_FILE).decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedRecording(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DamagedRecording(f"cannot read {path}: {error}") from error
    try:
        run = printable_json(text)
    except (ValueError, RecursionError) as error:
        raise DamagedRecording(f"{path} is not valid JSON: {error}") from error
    if not isinstance(run, dict) or run.get("format") != RUN_FORMAT:
        raise NotARecording(f"{path} was not written by dynamo")
    if run.get("version") != RUN_VERSION:
        raise NotARecording(
            f"{path} has recording version {run.get('version')}, but this dynamo reads {RUN_VERSION}; "
            "read it with the dynamo that wrote it"
        )
    for key, kinds in _RUN_FIELDS.items():
        if not isinstance(run.get(key), kinds):
            raise DamagedRecording(f"{path}: {key} is not what dynamo writes there")
    if not all(isinstance(part, str) for part in [*run["command"], *run["notes"]]):
        raise DamagedRecording(f"{path}: command and notes are not lists of text")
    return run


def is_recording(path: Path) -> bool:
    """Whether `path` is a recording of ours, a bundle of one, or a TORCH_TRACE file or folder."""
    try:
        if os.path.isdir(path):
            return os.path.lexists(path / RUN_FILE) or any(
                name.startswith(STREAM_PREFIX) for name in os.listdir(path)
            )
        return os.path.isfile(path) and (
            path.name.startswith(STREAM_PREFIX) or is_bundle(path) or _begins_as_trace(path)
        )
    except OSError:
        return False


def _begins_as_trace(path: Path) -> bool:
    with open_plain(path.resolve()) as file:  # a link that the user named
        return _TRACE_BEGINS.match(file.read(32)) is not None


def recordings(folder: Path = DEFAULT_FOLDER) -> list[Path]:
    """The recordings in `folder`, by start time; those that cannot be read come first.

    A folder that cannot be opened, for example another user's, counts as a recording. DamagedRecording if
    `folder` itself cannot be opened.
    """
    try:
        found = [path for path in folder.iterdir() if _may_be_recording(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise DamagedRecording(f"cannot read {folder}: {error.strerror}") from error
    return sorted(found, key=lambda path: (_began(path), path.name))


def newest(folder: Path = DEFAULT_FOLDER) -> Path:
    """The readable recording that was started last; NoRecording if there is none."""
    found = recordings(folder)
    if found and _began(found[-1]) >= 0:
        return found[-1]
    hint = "make one with `dynamo run SCRIPT`, or name one"
    if not found:
        raise NoRecording(f"no recording in {folder}; {hint}")
    raise NoRecording(f"no recording in {folder} can be read: {_why_unreadable(found[-1])}; {hint}")


def is_surely_newest(recording: Path, folder: Path = DEFAULT_FOLDER) -> bool:
    """Whether `newest` gives this recording, and no other run in progress could change that."""
    try:
        *others, last = recordings(folder)
        return last.samefile(recording) and not any(map(is_in_use, others))
    except (DamagedRecording, ValueError, OSError):
        return False


def _may_be_recording(path: Path) -> bool:
    try:
        os.lstat(path / RUN_FILE)
    except PermissionError:  # another user's folder
        return True
    except OSError:
        return False
    return True


def _why_unreadable(path: Path) -> str:
    try:
        read_run_file(path)
    except (DamagedRecording, NotARecording) as error:
        return str(error)
    return f"{path} has no time at which it began"


def _run_or_none(folder: Path) -> dict[str, Any] | None:
    with suppress(DamagedRecording, NotARecording):
        return read_run_file(folder)
    return None


def _began(path: Path) -> int:
    return int((_run_or_none(path) or {}).get("started_ns", -1))
