"""The recordings of a folder, each with what a list says of it."""

import os
from collections.abc import Sequence
from pathlib import Path

from ..analysis.summary import Summary, summarize
from ..model import Run
from ..recording import files
from ..recording.in_use import is_in_use
from ..recording.read import read
from ..shared.errors import DynamoError
from ..shared.quick_dataclass import dataclass

_LARGEST = 64 << 20  # bytes; of a larger recording nothing is counted, which would take seconds


@dataclass(frozen=True)
class Listed:
    """A recording. `size` is in bytes; None is not known, and of `summary` not counted.

    `problem` says why it cannot be read. `is_newest` marks the one that a report takes when none is named.
    """

    path: Path
    run: Run | None
    started_ns: int | None
    size: int | None
    summary: Summary | None
    is_running: bool
    is_newest: bool
    problem: str | None = None


def listed(recordings: Sequence[Path]) -> list[Listed]:
    """What there is to say of each; the last that can be read is the newest."""
    found = [_listed(path) for path in recordings]
    newest = next((each.path for each in reversed(found) if each.problem is None), None)
    return [_with_newest(each, each.path == newest) for each in found]


def _listed(path: Path) -> Listed:
    size = _size(path)
    try:
        run = files.read_run_file(path) or {}
        started_ns = int(run["started_ns"])
        summary = summarize(read(path)) if size is not None and size <= _LARGEST else None
        return Listed(path, Run.of(run), started_ns, size, summary, is_in_use(path), False)
    except (DynamoError, OSError, KeyError, TypeError, ValueError) as error:
        return Listed(path, None, None, size, None, False, False, str(error))


def _with_newest(each: Listed, is_newest: bool) -> Listed:
    return Listed(**{**vars(each), "is_newest": is_newest})


def _size(folder: Path) -> int | None:
    """Of the files in it, not of what links lead to; None where they cannot be looked at."""
    try:
        with os.scandir(folder) as found:
            return sum(file.stat(follow_symlinks=False).st_size for file in found)
    except OSError:
        return None
