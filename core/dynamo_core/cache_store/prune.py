"""Delete what was not used for a while, where the user asks for it: entries of a layer, and nothing else."""

import os
from contextlib import suppress

from ..shared.quick_dataclass import dataclass
from .scan import Contents


@dataclass(frozen=True)
class Pruned:
    """What went, and what could not be deleted."""

    entries: int
    size: int
    failed: int


def prune(contents: Contents, days: float, now: float) -> Pruned:
    """Delete the files of entries not used for so many days, and folders that are then empty.

    A program that looks for one of them meanwhile compiles it anew.
    """
    entries = size = failed = 0
    for entry in contents.old(days, now):
        gone = [_delete(contents, path) for path in entry.paths]
        if all(gone):
            entries += 1
            size += entry.size
        failed += gone.count(False)
    return Pruned(entries, size, failed)


def _delete(contents: Contents, path: str) -> bool:
    file = contents.folder / path
    try:
        file.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    with suppress(OSError):  # others are in it
        for parent in file.relative_to(contents.folder).parents:
            if parent.name:
                os.rmdir(contents.folder / parent)
    return True
