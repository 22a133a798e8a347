"""`dynamo guards`."""

from dynamo_reporters.report import Report

from .report_command import report_command
from .run_options import documented_option


@report_command("guards")
@documented_option(
    "--all", "show_all", is_flag=True, help="List every guard, those too that are only counted."
)
def guards_command(show_all: bool) -> Report:
    """Show the guards of every cache entry: under which conditions compiled code may be used again.

    TARGET_HELP

    \b
    Examples:
      dynamo guards
      dynamo guards --compile-id 0/1 --all
      dynamo guards --frame forward -o guards.md
    """
    from dynamo_reporters.guards.report import report

    return report(show_all)
