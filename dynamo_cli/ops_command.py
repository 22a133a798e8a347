"""`dynamo ops`: apart from `report_commands.py`, since its sort keys are the report's, slow to import."""

import click

from dynamo_core.case import Case
from dynamo_reporters.ops import SORT_KEYS
from dynamo_reporters.report import Report

from .options import all_option, documented_option
from .report_command import report_command


@report_command("ops")
@documented_option("--sort", type=click.Choice(SORT_KEYS), default="executed", help="What comes first.")
@all_option("Every kind of op, not the first twenty.")
@documented_option(
    "--aot", is_flag=True, help="The operators of AOTAutograd's forward and backward graphs, where it trains."
)
def ops_command(sort: str, show_all: bool, aot: bool) -> Report[Case]:
    """Count the operations of each graph, and how often they ran.

    TARGET_HELP

    \b
    Examples:
      dynamo ops
      dynamo ops --sort count --graph 1 --all
      dynamo ops --aot
    """
    from dynamo_reporters.ops import report

    return report(sort=sort, show_all=show_all, aot=aot)
