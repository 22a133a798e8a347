"""Paths as they are shown: relative to one folder for what is below it, which whoever prints names once.

Reports and findings then depend on what they are given alone, and not on where the process stands.
"""

import os

_folder: str | None = None


def show_paths_from(folder: str | None) -> None:
    """Show paths below `folder` relative to it, from now on; with None, all as they were recorded."""
    global _folder
    _folder = folder


def shown_path(path: str) -> str:
    """For a person: in a package, relative to site-packages."""
    _, in_package, rest = path.rpartition("/site-packages/")
    return rest if in_package else path_below(path)


def path_below(path: str) -> str:
    """For a command: relative only where it is below the folder."""
    return path if _folder is None else path.removeprefix(_folder.rstrip(os.sep) + os.sep)


def relative_path(path: str) -> str:
    """For what takes no other paths, such as annotations: with `..` where it is not below the folder."""
    return path if _folder is None or not os.path.isabs(path) else os.path.relpath(path, _folder)
