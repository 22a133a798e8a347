"""`dynamo recompiles`."""

from dynamo_reporters.report import Report

from .report_command import report_command
from .run_options import documented_option


@report_command("recompiles")
@documented_option(
    "--all", "show_all", is_flag=True, help="Every cache entry that failed, not the newest alone."
)
def recompiles_command(show_all: bool) -> Report:
    """Show which frames were compiled again, which guard failed on which values, and what to do about it.

    TARGET_HELP

    \b
    Examples:
      dynamo recompiles
      dynamo recompiles --frame forward --all
      dynamo recompiles train.py                 run it first
    """
    from dynamo_reporters.recompiles.report import report

    return report(show_all=show_all)
