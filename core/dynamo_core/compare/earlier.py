"""Read recordings to compare: earlier runs beside a recording, and two sides with their details."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..model import Recording
from ..recording.caches import CACHE_KEYS
from ..recording.files import read_run_file, recordings
from ..recording.read import read, read_keeping
from ..shared import names
from ..shared.errors import DynamoError
from . import CONTENTS, add_details, details_to_read

KEYS = frozenset({CACHE_KEYS})
# For the run to explain, the phases as well: they have the time that the C++ compiler took.
KEYS_AND_PHASES = KEYS | {"chromium_event"}
_MOST_RUNS = 8  # earlier runs that are read; a start is hardly meant to find older cache entries


def earlier_runs(target: Recording, path: Path) -> list[Recording]:
    """The latest runs in the same folder that began before this one, the oldest first.

    Runs of the same program are preferred; what cannot be read is skipped.
    """
    program = None if target.run is None else target.run.program
    others = [
        (run.get("program") == program, began, other) for began, run, other in _began_before(target, path)
    ]
    chosen = sorted(others, key=lambda each: each[:2])[-_MOST_RUNS:]
    return sorted(_readable((other for _, _, other in chosen), KEYS), key=_start)


def run_before(target: Recording, contents: frozenset[str]) -> Recording | None:
    """The latest run of the same command in the same folder that began before this one and ended well."""
    command = None if target.run is None else target.run.command
    same = [
        (began, other)
        for began, run, other in _began_before(target, target.path)
        if run.get("command") == command
    ]
    runs = _readable((other for _, other in sorted(same, reverse=True)), contents)
    return next((run for run in runs if run.ended_well and run.processes), None)


def _began_before(target: Recording, path: Path) -> list[tuple[int, dict[str, Any], Path]]:
    """Each other recording in the folder that began before: when, its run file, and its path."""
    until = None if target.run is None else target.run.started_ns
    found = []
    for other in recordings(path.parent) if until is not None else ():
        with suppress(DynamoError):
            run = read_run_file(other) or {}
            began = int(run.get("started_ns", -1))
            if until is not None and 0 <= began < until and other.resolve() != path.resolve():
                found.append((began, run, other))
    return found


def _readable(paths: Iterable[Path], contents: frozenset[str]) -> Iterator[Recording]:
    for path in paths:
        with suppress(DynamoError):
            yield read(path, contents)


def _start(recording: Recording) -> int:
    return (recording.run.started_ns if recording.run is not None else None) or 0


# The records of graphs' nodes and of guards, and those that say which function they belong to.
_DETAIL_RECORDS = frozenset({names.FX_GRAPH, names.GUARDS, "dynamo_start", "str"})


def read_both(before: Path, after: Path) -> tuple[Recording, Recording]:
    """Both recordings; one that cannot be read raises the same errors as for any report."""
    sides = _Side(before), _Side(after)
    wanted = details_to_read(sides[0].recording, sides[1].recording)
    was, now = (side.with_details(contents) for side, contents in zip(sides, wanted, strict=True))
    return was, now


class _Side:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.recording, self._follower = read_keeping(path, CONTENTS, _DETAIL_RECORDS)

    def with_details(self, contents: frozenset[str]) -> Recording:
        if not contents:
            return self.recording
        processes = self._follower.read_kept(contents)
        if processes is None:  # the records were too large to be kept in memory
            processes = read(self._path, contents).processes
        return add_details(self.recording, processes)
