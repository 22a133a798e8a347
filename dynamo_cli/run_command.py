"""`dynamo run`."""

from typing import Any

import click

from .program_command import ProgramCommand, program_of
from .run_options import RUN_OPTIONS, documented_option, request_from, run_options

_USUAL = {"output", "force", "capture", "backend", "fullgraph", "verify", "profile"}


@click.command("run", cls=ProgramCommand, further=RUN_OPTIONS - _USUAL)
@run_options("-o", "--output")
@documented_option("-q", "--quiet", is_flag=True, envvar="DYNAMO_QUIET", help="Print nothing at all.")
@click.pass_context
def run_command(ctx: click.Context, /, quiet: bool, **options: Any) -> None:
    """Run a program as it is, and record what torch.compile makes of it.

    The program may be a script, a folder or a zip app, -m MODULE, -c CODE, - for stdin, or any command after
    --. What follows it is its own. It runs in its own Python; its output, exit code and signals are its own.

    DYNAMO_LOGS prints what the compiler does while the program runs, on stderr: DYNAMO_LOGS=help lists the
    topics.

    \b
    Examples:
      dynamo run train.py --epochs 1
      dynamo run --backend aot_eager -m package.module
      DYNAMO_LOGS=graphs,+breaks dynamo run script.py
      dynamo run -- torchrun --nproc-per-node=2 train.py
    """
    from dynamo_core.launch.process import end_like

    from .running import audited, run_program, summarize_run

    program = program_of(ctx)
    if program is None:
        raise click.UsageError("name the program to run: dynamo run SCRIPT [ARGS]...")
    outcome = run_program(request_from(program, **options), quiet=quiet)
    if not quiet:
        summarize_run(outcome, is_default_place=options["output"] is None)
    end_like(audited(outcome, options["fullgraph"], options["verify"], quiet=quiet))
