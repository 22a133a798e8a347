"""A path that is there and looks like one that is not: what a mistyped name meant."""

import os
from itertools import islice
from pathlib import Path

_MOST = 10_000  # names of a folder that are looked at


def did_you_mean_path(path: str, further: Path | None = None) -> str | None:
    """A suggestion among what lies beside `path` and in a `further` folder: `did you mean 'train.py'?`.

    None where nothing is similar.
    """
    import difflib  # takes 5 ms, and is needed only after a typo

    folders = [os.path.dirname(path), *([] if further is None else [str(further)])]
    by_name = {
        os.path.basename(each): each for folder in folders for each in _content(folder) if each != path
    }
    near = difflib.get_close_matches(os.path.basename(os.path.normpath(path)), by_name, n=1)
    return f"did you mean {by_name[near[0]]!r}?" if near else None


def _content(folder: str) -> list[str]:
    try:
        with os.scandir(folder or ".") as entries:
            return [os.path.join(folder, entry.name) for entry in islice(entries, _MOST)]
    except OSError:
        return []
