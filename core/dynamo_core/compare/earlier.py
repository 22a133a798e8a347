"""Recordings of earlier runs, to compare cache keys with: found beside a recording, and read."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..model import Recording
from ..recording.caches import CACHE_KEYS
from ..recording.files import read_run_file, recordings
from ..recording.read import read, read_keeping
from ..shared import names
from ..shared.errors import DynamoError
from . import CONTENTS, wanted_as_well, with_what_was_wanted

KEYS = frozenset({CACHE_KEYS})
# Of the run that is to be explained, the phases as well: they tell what the C++ compiler took.
KEYS_AND_PHASES = KEYS | {"chromium_event"}
_MOST_RUNS = 8  # that are read; a key that is older than them is hardly what a start was meant to find


def earlier_runs(target: Recording, path: Path) -> list[Recording]:
    """The latest runs in the same folder that began before this one, the oldest first.

    Those of the same program are preferred; what cannot be read is passed over.
    """
    if target.run is None or target.run.started_ns is None:
        return []
    there = path.resolve()
    others = [
        (program == target.run.program, began, other)
        for other in recordings(path.parent)
        if other.resolve() != there
        for program, began in _began(other)
        if 0 <= began < target.run.started_ns
    ]
    chosen = sorted(others, key=lambda each: each[:2])[-_MOST_RUNS:]
    return sorted(_readable(other for _, _, other in chosen), key=_start)


def _began(path: Path) -> Iterator[tuple[str | None, int]]:
    with suppress(DynamoError):
        run = read_run_file(path) or {}
        yield run.get("program"), int(run.get("started_ns", -1))


def _readable(paths: Iterator[Path]) -> Iterator[Recording]:
    for path in paths:
        with suppress(DynamoError):
            yield read(path, KEYS)


def _start(recording: Recording) -> int:
    return (recording.run.started_ns if recording.run is not None else None) or 0


# Two recordings as they are to be compared: read once, with the details only of what differs.


# What tells of a graph's nodes, of guards, and whose they are.
_OF_DETAILS = frozenset({names.FX_GRAPH, names.GUARDS, "dynamo_start", "str"})


def read_both(before: Path, after: Path) -> tuple[Recording, Recording]:
    """Both of them; what cannot be read raises as for any report."""
    sides = _Side(before), _Side(after)
    wanted = wanted_as_well(sides[0].recording, sides[1].recording)
    was, now = (side.with_details(contents) for side, contents in zip(sides, wanted, strict=True))
    return was, now


class _Side:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.recording, self._follower = read_keeping(path, CONTENTS, _OF_DETAILS)

    def with_details(self, contents: frozenset[str]) -> Recording:
        if not contents:
            return self.recording
        processes = self._follower.read_kept(contents)
        if processes is None:  # they are too large to be kept
            processes = read(self._path, contents).processes
        return with_what_was_wanted(self.recording, processes)
