"""A click command whose options end where the user's program begins."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dynamo_core.launch.program import Program, split_command_line
from dynamo_core.shared.errors import LockFileProblem, did_you_mean
from dynamo_core.shared.overrides import ProjectSettings, project_settings
from dynamo_core.shared.text import printable

from .help_pages import CommandWithHelp
from .options import RUN_OPTIONS, OptionWithOptionalValue

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Options of ours behind the program's name: they are the program's, which may not be what was meant.


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
    """Options that the command has too, each with its value."""
    options = {
        name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    for i, argument in enumerate(arguments):
        name, equals, _ = argument.partition("=")
        if name in options:
            takes_next = not (equals or options[name].is_flag or name in options[name].secondary_opts)
            has_next = i + 1 < len(arguments) and not arguments[i + 1].startswith("-")
            yield list(arguments[i : i + 2]) if takes_next and has_next else [argument]


def _is_mentioned(option: str, text: str) -> bool:
    """Whether a script has the option's name anywhere: argparse spells it with dashes, others with `_`."""
    if not option.startswith("--"):
        return re.search(rf"(?<![\w-]){re.escape(option)}\b", text) is not None
    name = option.partition("=")[0].lstrip("-")
    return re.search(rf"\b{re.escape(name)}\b|\b{re.escape(name.replace('-', '_'))}\b", text) is not None


_DEFAULTS_KEY = "dynamo_cli.project_defaults"
_PROGRAM_KEY = "dynamo_cli.program"
_PROGRAM_USAGE = "{SCRIPT | -m MODULE | -c CODE | - | -- COMMAND} [ARGS]..."


class ProgramCommand(CommandWithHelp):
    """Takes its own options, then a program in any form of `python`'s, whose arguments it never reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give click our own options only, and keep the program in the context."""
        own, ctx.meta[_PROGRAM_KEY] = split_command_line(args, options_with_value(self))
        optional = _optional_values(self)
        if ctx.resilient_parsing:  # a shell asks what may follow
            return super().parse_args(ctx, with_bare_values(self, own))
        if own and own[-1] in optional:
            _check_value_is_attached(own[-1], optional[own[-1]], program_of(ctx))
        if program_of(ctx) is not None:
            ctx.default_map = ctx.meta[_DEFAULTS_KEY] = project_defaults(self, ctx)
        return super().parse_args(ctx, with_bare_values(self, own))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its options; for a shell that asks behind a program none, as what follows is the program's."""
        program = ctx.meta.get(_PROGRAM_KEY) if ctx.resilient_parsing else None
        return super().get_params(ctx) if program is None or not self.runs(program) else []

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Options; modules behind `-m`; else what may be the target, or files for a program's arguments."""
        from .completion import file_item, modules

        program = program_of(ctx)
        if program is not None and self.runs(program):
            return modules(incomplete) if program.arguments == ("-m",) else [file_item(incomplete)]
        if program is not None or incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return self.targets(incomplete)

    def targets(self, incomplete: str) -> list["CompletionItem"]:
        """What may be the program."""
        from .completion import file_item

        return [file_item(incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; first say which options behind the program look like a mistake."""
        program = program_of(ctx)
        hint = None if program is None else hint_for_misplaced(self, program)
        if hint is not None and not ctx.params.get("quiet"):
            click.echo(f"dynamo: {printable(hint)}", err=True)
        if program is not None and self.runs(program):
            self._say_defaults(ctx)
        return super().invoke(ctx)

    def runs(self, program: Program) -> bool:
        """Whether what was named is run, and not a recording to be read."""
        return True

    def _say_defaults(self, ctx: click.Context) -> None:
        """What the project's pyproject.toml changed for this run."""

        used = {
            name: value
            for name, value in ctx.meta.get(_DEFAULTS_KEY, {}).items()
            if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
        }
        if used and not ctx.params.get("quiet"):
            click.echo(f"dynamo: from pyproject.toml: {printable(defaults_text(used))}", err=True)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the program that click does not know of."""
        return [*super().collect_usage_pieces(ctx), _PROGRAM_USAGE]


def _optional_values(command: click.Command) -> dict[str, OptionWithOptionalValue]:
    return {
        name: parameter
        for parameter in command.params
        if isinstance(parameter, OptionWithOptionalValue)
        for name in parameter.opts
    }


def with_bare_values(command: click.Command, arguments: Sequence[str]) -> list[str]:
    """The arguments with what such an option means where it stands alone."""
    optional = _optional_values(command)
    return [f"{each}={optional[each].bare}" if each in optional else each for each in arguments]


def _check_value_is_attached(name: str, option: OptionWithOptionalValue, program: Program | None) -> None:
    """UsageError where what stands where the program should is a value of the option before it."""
    assert isinstance(option.type, click.Choice)
    word = None if program is None or not program.is_python else program.arguments[0]
    if word is not None and word in option.type.choices and not os.path.lexists(word):
        raise click.UsageError(f"there is no program {word}; as a value of {name}: {name}={word}")


def options_with_value(command: click.Command) -> frozenset[str]:
    """The names of the options whose value is the argument that follows."""
    return frozenset(
        name
        for parameter in command.params
        if isinstance(parameter, click.Option)
        and not (parameter.is_flag or isinstance(parameter, OptionWithOptionalValue))
        for name in parameter.opts
    )


def program_of(ctx: click.Context) -> Program | None:
    """The program on the command line, if there is one."""
    program: Program | None = ctx.meta[_PROGRAM_KEY]
    return program


def set_program(ctx: click.Context, program: Program) -> None:
    """Put another program in the place of the one found on the command line."""
    ctx.meta[_PROGRAM_KEY] = program


# Defaults for the options of a run from `[tool.dynamo]` of pyproject.toml.
#
# [tool.dynamo] backend = "eager" capture = "modules" config =
# ["torch._dynamo.config.capture_scalar_outputs=True"]
#
# What the command line or the environment says comes first.


_TABLES = frozenset({"check"})  # which commands of their own read
_OF_ONE_RUN = frozenset({"output", "force"})  # where to record is no habit of a project
BUDGET = "tokens"  # the parameter of a report's `--budget`, a time for `fix`, `repro` and `autotune`


def project_defaults(command: click.Command, ctx: click.Context) -> dict[str, Any]:
    """By the names of the command's parameters; LockFileProblem for a key or a value that is not known."""
    settings = project_settings(Path.cwd())
    if settings is None:
        return {}
    known = {_key(name): name for name in (RUN_OPTIONS | {BUDGET}) - _OF_ONE_RUN}
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


def project_value(parameter: click.Parameter, key: str, ctx: click.Context) -> Any:
    """What the project says of one option, of whatever command; None where it says nothing."""
    settings = project_settings(Path.cwd())
    if settings is None or key not in settings.table:
        return None
    return _checked(parameter, key, settings.table[key], settings, ctx)


def defaults_text(defaults: Mapping[str, Any]) -> str:
    """`--backend eager`, for the line that says what comes from the project."""
    return ", ".join(f"{_key(name)} = {value}" for name, value in defaults.items())


def _key(name: str) -> str:
    return {"options": "option", BUDGET: "budget"}.get(name, name.replace("_", "-"))


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
