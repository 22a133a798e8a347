"""`dynamo bytecode`."""

import click

from dynamo_reporters.report import Report

from .report_command import report_command
from .run_options import documented_option


@report_command("bytecode")
@documented_option(
    "--diff", is_flag=True, help="Align the two under the source lines, and explain what was inserted."
)
@documented_option("--source", is_flag=True, help="Show the frame's source, with what runs each line now.")
@documented_option(
    "--all", "show_all", is_flag=True, help="With --diff or --source, shorten and fold nothing."
)
def bytecode_command(diff: bool, source: bool, show_all: bool) -> Report:
    """Show the bytecode of every compiled frame before and after Dynamo, with its resume functions.

    TARGET_HELP

    \b
    Examples:
      dynamo bytecode --diff
      dynamo bytecode --source --frame forward
      dynamo bytecode --diff --compile-id 0/0 -o frame.md
    """
    from dynamo_reporters.bytecode.report import report

    if diff and source:
        raise click.UsageError("--diff and --source cannot be combined")
    return report("diff" if diff else "source" if source else "listing", show_all)
