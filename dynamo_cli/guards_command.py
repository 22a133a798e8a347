"""`dynamo guards`."""

import click

from dynamo_reporters.report import Report

from .report_command import report_command


@report_command("guards")
@click.option("--all", "show_all", is_flag=True, help="List every guard, those too that are only counted.")
def guards_command(show_all: bool) -> Report:
    """Show the guards of every cache entry: under which conditions compiled code may be used again.

    TARGET_HELP

    \b
    Examples:
      dynamo guards
      dynamo guards --compile-id 0/1 --all
    """
    from dynamo_reporters.guards.report import report

    return report(show_all)
