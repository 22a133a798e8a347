"""`[tool.dynamo]` of the nearest pyproject.toml."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .errors import LockFileProblem

_LARGEST = 16 << 20  # bytes


class ProjectSettings(NamedTuple):
    """The file, and what it has under `[tool.dynamo]`."""

    file: Path
    table: Mapping[str, Any]


def project_settings(folder: Path) -> ProjectSettings | None:
    """Those for a folder; None where there is no file. LockFileProblem where it cannot be read."""
    files = (each / "pyproject.toml" for each in (folder, *folder.parents))
    file = next((each for each in files if _is_there(each)), None)
    if file is None:
        return None
    try:
        if file.stat().st_size > _LARGEST:
            raise LockFileProblem(f"{file} is too large")
        content = _parsed(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # as in lock_file.py
        raise LockFileProblem(f"cannot read {file}: {error}") from error
    tool = content.get("tool", {})
    ours = tool.get("dynamo", {}) if isinstance(tool, dict) else {}
    if not isinstance(ours, dict):
        raise LockFileProblem(f"{file}: [tool.dynamo] is no table of settings")
    return ProjectSettings(file, ours)


def _parsed(text: str) -> dict[str, Any]:
    """The file's content. What reads it is imported where there is one."""
    if sys.version_info >= (3, 11):
        from tomllib import loads
    else:
        from tomli import loads
    return loads(text)


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # the folder is somebody else's
        return False
