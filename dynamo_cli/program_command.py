"""A click command whose options end where the user's program begins."""

import os
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from dynamo_core.checks.program import Program, split_command_line
from dynamo_core.shared.untrusted import printable

from .help_pages import CommandWithHelp
from .misplaced_options import hint_for_misplaced
from .optional_values import OptionWithOptionalValue

_DEFAULTS_KEY = "dynamo_cli.project_defaults"
_PROGRAM_KEY = "dynamo_cli.program"
_PROGRAM_USAGE = "{SCRIPT | -m MODULE | -c CODE | - | -- COMMAND} [ARGS]..."


class ProgramCommand(CommandWithHelp):
    """Takes its own options, then a program in any form of `python`'s, whose arguments it never reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give click our own options only, and keep the program in the context."""
        own, ctx.meta[_PROGRAM_KEY] = split_command_line(args, options_with_value(self))
        optional = _optional_values(self)
        if own and own[-1] in optional:
            _check_value_is_attached(own[-1], optional[own[-1]], program_of(ctx))
        if program_of(ctx) is not None:
            from .project_defaults import project_defaults

            ctx.default_map = ctx.meta[_DEFAULTS_KEY] = project_defaults(self, ctx)
        return super().parse_args(ctx, with_bare_values(self, own))

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
        from .project_defaults import told

        used = {
            name: value
            for name, value in ctx.meta.get(_DEFAULTS_KEY, {}).items()
            if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
        }
        if used and not ctx.params.get("quiet"):
            click.echo(f"dynamo: from pyproject.toml: {printable(told(used))}", err=True)

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
