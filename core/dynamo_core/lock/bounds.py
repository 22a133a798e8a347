"""Bounds for `dynamo check` from `[tool.dynamo.check]` of pyproject.toml.

[tool.dynamo.check]
max-graph-breaks = 0
allow = ["graph-break-0123456789ab"]

[tool.dynamo.check.programs."tests/test_model.py"]
max-graphs = 2
"""

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..shared.errors import LockFileProblem
from ..shared.project_settings import project_settings
from ..shared.quick_dataclass import dataclass
from .comparison import Bounds
from .facts import COUNTS

_MOST = {f"max-{name}": name for name in COUNTS}


@dataclass(frozen=True)
class ProjectBounds:
    """The bounds of a project: for all of its programs, and by patterns of their names."""

    for_all: Bounds | None = None
    by_pattern: Mapping[str, Bounds] = field(default_factory=dict)

    def of(self, program: str) -> Bounds | None:
        """Those for a program; None where there are none."""
        bounds = self.for_all
        for pattern, further in self.by_pattern.items():
            if program == pattern or fnmatchcase(program, pattern):  # a test's name may have brackets
                bounds = together(bounds, further)
        return bounds


def bounds_of_project(folder: Path) -> ProjectBounds:
    """What the nearest pyproject.toml says; LockFileProblem where that cannot be read."""
    project = project_settings(folder)
    if project is None:
        return ProjectBounds()
    file, ours = project
    table = ours.get("check")
    if table is None:
        return ProjectBounds()
    programs = table.get("programs", {}) if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(programs, dict):
        raise LockFileProblem(f"{file}: [tool.dynamo.check] is no table of settings")
    own = {name: value for name, value in table.items() if name != "programs"}
    return ProjectBounds(
        _bounds(f"{file}: [tool.dynamo.check]", own) if own else None,
        {
            pattern: _bounds(f"{file}: [tool.dynamo.check.programs.{pattern!r}]", each)
            for pattern, each in programs.items()
        },
    )


def together(first: Bounds | None, second: Bounds | None) -> Bounds | None:
    """Both; where they differ, the second."""
    if first is None or second is None:
        return first or second
    return Bounds({**first.most, **second.most}, first.allowed | second.allowed)


def _bounds(where: str, table: Any) -> Bounds:
    if not isinstance(table, Mapping):
        raise LockFileProblem(f"{where} is no table")
    unknown = sorted(set(table) - set(_MOST) - {"allow"})
    if unknown:
        known = ", ".join([*_MOST, "allow"])
        raise LockFileProblem(f"{where} has {unknown[0]!r}, which is not known; known are {known}")
    allowed = table.get("allow", [])
    if not isinstance(allowed, list) or not all(isinstance(each, str) for each in allowed):
        raise LockFileProblem(f"{where}: allow is not a list of identities")
    most = {_MOST[name]: value for name, value in table.items() if name in _MOST}
    for name, value in most.items():
        if type(value) is not int or value < 0:
            raise LockFileProblem(f"{where}: max-{name} is not a number from 0")
    return Bounds(most, frozenset(allowed))
