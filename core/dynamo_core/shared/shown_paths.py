"""Paths as they are shown: relative to one folder for what is below it. `dynamo --help` pays for this file.

The folder is a setting of the process, as its locale is: whoever prints sets it once, and reports depend on
what they are given alone, not on where the process stands.
"""

import os

_folder: str | None = None


def show_paths_from(folder: str | None) -> None:
    """Show paths below `folder` relative to it from now on; with None, show all paths as recorded."""
    global _folder
    _folder = folder


def working_directory() -> str | None:
    """The folder that the process stands in; None where it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


def shown_path(path: str) -> str:
    """The path for a person to read: in a package, relative to site-packages."""
    _, in_package, rest = path.rpartition("/site-packages/")
    return rest if in_package else path_below(path)


def path_below(path: str) -> str:
    """The path for use in a command: relative only where it is below the folder."""
    return path if _folder is None else path.removeprefix(_folder.rstrip(os.sep) + os.sep)


def relative_path(path: str) -> str:
    """The path where only relative ones are accepted, as in annotations: with `..` outside of the folder."""
    return path if _folder is None or not os.path.isabs(path) else os.path.relpath(path, _folder)
