"""Options of ours behind the program's name: they are the program's, which may not be what was meant."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from dynamo_core.checks.program import Program

_LARGEST = 1 << 20  # bytes of a script that is looked through


def hint_for_misplaced(command: click.Command, program: Program) -> str | None:
    """What to type instead; None where the script knows the options itself, or there are none of ours."""
    script = Path(program.arguments[0])
    if not program.is_python or len(program.arguments) < 2:
        return None
    try:
        if not script.is_file() or script.stat().st_size > _LARGEST:
            return None
        text = script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = [given for given in _ours(command, program.arguments[1:]) if not _is_mentioned(given[0], text)]
    if not found:
        return None
    names = ", ".join(given[0].partition("=")[0] for given in found)
    instead = shlex.join([*(word for given in found for word in given), program.arguments[0]])
    return (
        f"{script.name} is given {names}, which it does not mention; "
        f"options for dynamo stand in front: dynamo {command.name} {instead}"
    )


def _ours(command: click.Command, arguments: Sequence[str]) -> Iterator[list[str]]:
    """Long options that the command has too, each with its value."""
    options = {
        name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    for i, argument in enumerate(arguments):
        name, equals, _ = argument.partition("=")
        if name in options:
            takes_next = not (equals or options[name].is_flag or name in options[name].secondary_opts)
            has_next = i + 1 < len(arguments) and not arguments[i + 1].startswith("-")
            yield list(arguments[i : i + 2]) if takes_next and has_next else [argument]


def _is_mentioned(option: str, text: str) -> bool:
    """Whether a script has the option's name anywhere: argparse spells it with dashes, others with `_`."""
    name = option.partition("=")[0].lstrip("-")
    return re.search(rf"\b{re.escape(name)}\b|\b{re.escape(name.replace('-', '_'))}\b", text) is not None
