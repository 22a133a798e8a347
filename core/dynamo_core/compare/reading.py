"""Two recordings as they are to be compared: read once, with the details only of what differs."""

from pathlib import Path

from ..model import Recording
from ..recording.read import read, read_keeping
from ..shared import names
from . import CONTENTS, wanted_as_well, with_what_was_wanted

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
