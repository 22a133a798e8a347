"""A click command whose options end where the user's program begins."""

from typing import Any

import click

from dynamo_core.launch.program import Program, split_command_line

from .help_pages import CommandWithHelp

_PROGRAM_KEY = "dynamo_cli.program"
_PROGRAM_USAGE = "{SCRIPT | -m MODULE | -c CODE | - | -- COMMAND} [ARGS]..."


class OptionWithOptionalValue(click.Option):
    """`--option` alone means `--option=BARE`; another value stands behind `=`, never in the next argument.

    click's own kind of it takes the argument that follows, which here may be the program.
    """

    def __init__(self, *args: Any, bare: str, **named: Any) -> None:
        super().__init__(*args, **named)
        self.bare = bare


class ProgramCommand(CommandWithHelp):
    """Takes its own options, then a program in any form of `python`'s, whose arguments it never reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give click our own options only, and keep the program in the context."""
        with_value = frozenset(
            name
            for parameter in self.params
            if isinstance(parameter, click.Option)
            and not (parameter.is_flag or isinstance(parameter, OptionWithOptionalValue))
            for name in parameter.opts
        )
        own, ctx.meta[_PROGRAM_KEY] = split_command_line(args, with_value)
        bare = {
            name: f"{name}={parameter.bare}"
            for parameter in self.params
            if isinstance(parameter, OptionWithOptionalValue)
            for name in parameter.opts
        }
        own = [bare.get(argument, argument) for argument in own]
        return super().parse_args(ctx, own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the program that click does not know of."""
        return [*super().collect_usage_pieces(ctx), _PROGRAM_USAGE]


def program_of(ctx: click.Context) -> Program | None:
    """The program on the command line, if there is one."""
    program: Program | None = ctx.meta[_PROGRAM_KEY]
    return program


def set_program(ctx: click.Context, program: Program) -> None:
    """Put another program in the place of the one found on the command line."""
    ctx.meta[_PROGRAM_KEY] = program
