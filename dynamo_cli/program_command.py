"""A click command whose options end where the user's program begins."""

import click

from dynamo_core.launch.program import Program, split_command_line

_PROGRAM_KEY = "dynamo_cli.program"
_PROGRAM_USAGE = "{SCRIPT | -m MODULE | -c CODE | - | -- COMMAND} [ARGS]..."


class ProgramCommand(click.Command):
    """Takes its own options, then a program in any form of `python`'s, whose arguments it never reads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give click our own options only, and keep the program in the context."""
        with_value = frozenset(
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and not parameter.is_flag
            for name in parameter.opts
        )
        own, ctx.meta[_PROGRAM_KEY] = split_command_line(args, with_value)
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
