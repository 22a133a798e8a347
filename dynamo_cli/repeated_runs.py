"""What the commands share that run a program several times: which program, and whether they may."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from dynamo_core.launch.program import Program, default_python
from dynamo_core.launch.run import Request, checked, command_line, rerun_request
from dynamo_core.recording import files

from .options import request_from
from .program import program_of
from .report_command import is_to_be_run


def requested_again(ctx: click.Context, options: dict[str, Any]) -> tuple[Request, Path | None]:
    """What to run: the program named, or that of a recording, and which recording."""
    program = program_of(ctx)
    if program is not None and is_to_be_run(program):
        refuse_stdin(program, ctx)
        return checked(request_from(program, output=None, **options)), None
    folder = files.newest() if program is None else Path(program.arguments[0])
    return checked(rerun_request(folder)), folder


def refuse_stdin(program: Program, ctx: click.Context) -> None:
    """UsageError for a program that cannot be read a second time."""
    if program.is_python and program.arguments[0] == "-":
        raise click.UsageError(
            f"a program on stdin can be read only once; {ctx.info_name} runs it many times"
        )


def ask_to_run(request: Request, how_often: str) -> None:
    """Ask on the terminal whether the program may be run; UsageError where there is none."""
    if not sys.stdin.isatty():
        name = click.get_current_context().info_name
        program = shlex.join(request.program.arguments)
        no_terminal = f"there is no terminal to ask on: add --yes, as in `dynamo {name} --yes {program}`"
        raise click.UsageError(f"the program would be run {how_often}, and {no_terminal}")
    command = command_line(request, request.python or default_python())
    what = f"{command}\nruns {how_often}, in {os.getcwd()}; what it writes, it writes each time."
    click.confirm(f"{what} Go on?", default=True, abort=True, err=True)
