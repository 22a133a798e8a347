"""What may stand at the end of a command line: commands, options, their values, targets, or files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from dynamo_core.checks.program import Program, split_command_line

from ..help_pages import first_clause
from ..program_command import ProgramCommand, options_with_value
from ..report_command import ReportCommand, is_to_be_run
from .values import COMMANDS, FILES, FROM_THE_SHELL, Suggestion, modules, of_parameter, recordings


def suggestions(group: click.Group, described: Mapping[str, str], words: Sequence[str]) -> list[Suggestion]:
    """Those that fit the last of the words, which may be empty; `words` are those behind `dynamo`."""
    *before, current = words or [""]
    if before and before[0] == "help":
        before = before[1:]
    if not before:
        found: Iterator[Suggestion] = (Suggestion(name, what) for name, what in described.items())
    elif before[0] in described:
        command = group.get_command(click.Context(group), before[0])
        found = iter(()) if command is None else _of_command(command, before[1:], current)
    else:
        found = iter(())
    return [each for each in found if each.value in FROM_THE_SHELL or each.value.startswith(current)]


def _of_command(command: click.Command, before: list[str], current: str) -> Iterator[Suggestion]:
    with_value = options_with_value(command)
    own, program = before, None
    if isinstance(command, ProgramCommand):
        own, program = split_command_line(before, with_value)
    if program is not None:
        yield from _behind_target(command, program, current)
    elif before[-1:] == ["--"]:
        yield Suggestion(COMMANDS)
    elif (option := _awaiting_value(own, with_value)) is not None:
        yield from _values(command, option, current, None)
    elif current.startswith("-") and current != "-":
        yield from _options(command, current, None)
    elif isinstance(command, ProgramCommand):
        fitting = [each for each in recordings() if each.value.startswith(current)]
        yield from fitting if isinstance(command, ReportCommand) else ()
        if not (current and fitting):  # else its folder would be in the way
            yield Suggestion(FILES)
    else:
        yield from _arguments(command, own, with_value)


def _behind_target(command: click.Command, program: Program, current: str) -> Iterator[Suggestion]:
    """Files, which are all that can be known of a program's arguments; options behind a recording."""
    first, *rest = program.arguments
    if program.is_python and first == "-m" and not rest:
        yield from modules(current)
    elif not isinstance(command, ReportCommand) or is_to_be_run(program):
        yield Suggestion(FILES)
    elif (option := _awaiting_value(rest, options_with_value(command))) is not None:
        yield from _values(command, option, current, Path(first))
    else:
        yield from _options(command, current, Path(first))


def _awaiting_value(own: Sequence[str], with_value: frozenset[str]) -> str | None:
    """The option at the end that has no value yet."""
    position = 0
    while position < len(own):
        if own[position] in with_value:
            if position + 1 == len(own):
                return own[position]
            position += 1
        position += 1
    return None


def _options(command: click.Command, current: str, target: Path | None) -> Iterator[Suggestion]:
    """The names of options, or, behind `--option=`, its values."""
    name, equals, _ = current.partition("=")
    if equals:
        for each in _values(command, name, current.removeprefix(f"{name}="), target):
            is_word = each.value not in FROM_THE_SHELL
            yield Suggestion(f"{name}={each.value}", each.description) if is_word else each
        return
    for parameter in command.get_params(click.Context(command)):
        if isinstance(parameter, click.Option):
            for option in (*parameter.opts, *parameter.secondary_opts):
                yield Suggestion(option, first_clause(parameter.help or ""))


def _values(command: click.Command, name: str, current: str, target: Path | None) -> Iterator[Suggestion]:
    for parameter in command.params:
        if name in parameter.opts:
            yield from of_parameter(parameter, current, target)


def _arguments(
    command: click.Command, own: Sequence[str], with_value: frozenset[str]
) -> Iterator[Suggestion]:
    """What the next argument of a command may be that takes no program."""
    given, position = 0, 0
    while position < len(own):
        given += not own[position].startswith("-")
        position += 2 if own[position] in with_value else 1
    wanted = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    if wanted and (given < len(wanted) or wanted[-1].nargs < 0):
        yield from of_parameter(wanted[min(given, len(wanted) - 1)], "", None)
