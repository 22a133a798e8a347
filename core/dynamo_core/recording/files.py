"""Where recordings lie, what is one, and making room for a new one."""

import json
import os
import re
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import CannotRecord, DamagedRecording, NoRecording, NotARecording
from ..names import (
    CALLS_PREFIX,
    CALLS_SUFFIX,
    ENGINE_FAILURE_PREFIX,
    PROFILE_PREFIX,
    PROFILE_SUFFIX,
    PYTHON_PROCESSES_FILE,
    RUN_FILE,
    STREAM_PREFIX,
    STREAM_SUFFIX,
)
from ..untrusted import printable_values

DEFAULT_FOLDER = Path(".dynamo")
RUN_FORMAT = "dynamo-recording"
RUN_VERSION = 1
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
    rf"{re.escape(RUN_FILE)}(\.new)?|{re.escape(PYTHON_PROCESSES_FILE)}|{ENGINE_FAILURE_PREFIX}\d+\.txt"
    rf"|{STREAM_PREFIX}\w+{re.escape(STREAM_SUFFIX)}|{CALLS_PREFIX}\w+{re.escape(CALLS_SUFFIX)}"
    rf"|{PROFILE_PREFIX}\w+{re.escape(PROFILE_SUFFIX)}(\.new)?"
)
_TRACE_BEGINS = re.compile(rb"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.|\x1f\x8b")  # a record, or gzip
_LEAST_FREE_SPACE = 1 << 20  # bytes; a recording of one small graph takes about this much


def create(wanted: Path | None, program_name: str, *, replace: bool) -> Path:
    """An empty folder for a new recording; CannotRecord if it cannot be had.

    Without `wanted`, `.dynamo/<program>-<date>-<time>`, made unique. With `replace`, an earlier recording
    at `wanted` gives way; nothing else ever does.
    """
    try:
        folder = _create_default(program_name) if wanted is None else _create_named(wanted, replace)
        (folder / PYTHON_PROCESSES_FILE).touch()
        free = os.statvfs(folder)
    except OSError as error:
        place = wanted if wanted is not None else DEFAULT_FOLDER
        hint = "" if wanted is not None else "; name another place with -o DIR"
        raise CannotRecord(f"cannot record to {place}: {error.strerror}{hint}") from error
    if free.f_bavail * free.f_frsize < _LEAST_FREE_SPACE:
        raise CannotRecord(f"cannot record to {folder}: no space left on the device")
    return folder


def _create_default(program_name: str) -> Path:
    parent = DEFAULT_FOLDER.absolute()
    parent.mkdir(exist_ok=True)
    ignore = parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    stem = f"{program_name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for attempt in range(1, 1000):
        folder = parent / (stem if attempt == 1 else f"{stem}-{attempt}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
    raise CannotRecord(f"cannot find an unused name for {parent / stem}")


def _create_named(wanted: Path, replace: bool) -> Path:
    folder = wanted.absolute()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        if not replace:
            raise CannotRecord(f"{wanted} exists; choose another -o, or add -f to replace a recording")
        if not (folder / RUN_FILE).is_file():
            raise CannotRecord(f"{wanted} exists and is no recording of ours, so -f leaves it alone")
        others = [file.name for file in folder.iterdir() if not _OUR_FILES.fullmatch(file.name)]
        if others:
            raise CannotRecord(f"{wanted} holds {others[0]!r}, which is not ours, so -f leaves it alone")
        for file in folder.iterdir():
            file.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_run_file(folder: Path, run: Mapping[str, Any]) -> None:
    """Write what is known of the run, in one step: a reader sees the old file or the new one."""
    content = json.dumps({"format": RUN_FORMAT, "version": RUN_VERSION, **run}, indent=2)
    temporary = folder / (RUN_FILE + ".new")
    try:
        temporary.write_text(content + "\n")
        temporary.replace(folder / RUN_FILE)
    except OSError as error:
        raise CannotRecord(f"cannot write {folder / RUN_FILE}: {error.strerror}") from error


def read_run_file(folder: Path) -> dict[str, Any] | None:
    """What is known of the run; None for a torch trace that is not ours."""
    path = folder / RUN_FILE
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DamagedRecording(f"{path} is no plain file")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedRecording(f"cannot read {path}: {error}") from error
    try:
        run = printable_values(json.loads(text))
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
    """Whether `path` is a recording of ours, or a TORCH_TRACE file or folder."""
    if os.path.isdir(path):
        return (path / RUN_FILE).exists() or any(path.glob(f"{STREAM_PREFIX}*"))
    return os.path.isfile(path) and (path.name.startswith(STREAM_PREFIX) or _begins_as_trace(path))


def _begins_as_trace(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _TRACE_BEGINS.match(file.read(32)) is not None
    except OSError:
        return False


def recordings(folder: Path = DEFAULT_FOLDER) -> list[Path]:
    """The recordings in `folder`, by when they began; first those that cannot be read."""
    if not folder.is_dir():
        return []
    return sorted(
        (path for path in folder.iterdir() if (path / RUN_FILE).is_file()),
        key=lambda path: (_began(path), path.name),
    )


def newest(folder: Path = DEFAULT_FOLDER) -> Path:
    """The recording begun last; NoRecording if there is none."""
    found = recordings(folder)
    if not found or _began(found[-1]) < 0:
        raise NoRecording(f"no recording in {folder}; make one with `dynamo run SCRIPT`, or name one")
    return found[-1]


def _began(path: Path) -> int:
    try:
        return int((read_run_file(path) or {})["started_ns"])
    except (DamagedRecording, NotARecording, KeyError):
        return -1
