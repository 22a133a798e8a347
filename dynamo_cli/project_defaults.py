"""Defaults for the options of a run from `[tool.dynamo]` of pyproject.toml.

[tool.dynamo]
backend = "eager"
capture = "modules"
config = ["torch._dynamo.config.capture_scalar_outputs=True"]

What the command line or the environment says comes first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dynamo_core.shared.errors import LockFileProblem
from dynamo_core.shared.near_names import did_you_mean
from dynamo_core.shared.project_settings import ProjectSettings, project_settings

from .run_options import RUN_OPTIONS

_TABLES = frozenset({"check"})  # which commands of their own read
_OF_ONE_RUN = frozenset({"output", "force"})  # where to record is no habit of a project


def project_defaults(command: click.Command, ctx: click.Context) -> dict[str, Any]:
    """By the names of the command's parameters; LockFileProblem for a key or a value that is not known."""
    settings = project_settings(Path.cwd())
    if settings is None:
        return {}
    known = {key: name for name in RUN_OPTIONS - _OF_ONE_RUN for key in [_key(name)]}
    for key in settings.table:
        if key not in known and key not in _TABLES:
            hint = did_you_mean(key, known) or f"known are {', '.join([*_TABLES, *sorted(known)])}"
            raise LockFileProblem(f"{settings.file}: [tool.dynamo] has {key!r}, which is not known; {hint}")
    parameters = {parameter.name: parameter for parameter in command.params}
    return {
        known[key]: _checked(parameters[known[key]], key, value, settings, ctx)
        for key, value in settings.table.items()
        if key in known and known[key] in parameters
    }


def told(defaults: Mapping[str, Any]) -> str:
    """`--backend eager`, for the line that says what comes from the project."""
    return ", ".join(f"{_key(name)} = {value}" for name, value in defaults.items())


def _key(name: str) -> str:
    return "option" if name == "options" else name.replace("_", "-")


def _checked(
    parameter: click.Parameter, key: str, value: Any, settings: ProjectSettings, ctx: click.Context
) -> Any:
    where = f"{settings.file}: [tool.dynamo] {key}"
    if parameter.multiple != isinstance(value, list) or isinstance(value, dict):
        raise LockFileProblem(f"{where} is {'no list' if parameter.multiple else 'not one value'}")
    try:
        parameter.type_cast_value(ctx, value)
    except click.BadParameter as error:
        raise LockFileProblem(f"{where}: {error.message}") from error
    return value
