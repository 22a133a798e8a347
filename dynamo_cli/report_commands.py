"""The commands whose options are those of every report, and few of their own."""

import click

from dynamo_core.case import Case
from dynamo_reporters.report import Report

from .options import all_option, documented_option
from .report_command import report_command


@report_command("breaks")
def breaks_command() -> Report[Case]:
    """Show each distinct graph break, worst first: where, why, how often it is crossed, what to do.

    TARGET_HELP

    \b
    Examples:
      dynamo breaks
      dynamo breaks --file model.py --format markdown
      dynamo breaks train.py --epochs 1                run it first
    """
    from dynamo_reporters.breaks import report

    return report()


@report_command("bytecode")
@documented_option(
    "--diff", is_flag=True, help="Align the two under the source lines, and explain what was inserted."
)
@documented_option("--source", is_flag=True, help="Show the frame's source, with what runs each line now.")
@all_option("With --diff or --source, shorten and fold nothing.")
def bytecode_command(diff: bool, source: bool, show_all: bool) -> Report[Case]:
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


@report_command("explain")
@all_option("Every finding in full, where compile time went, the graphs.")
def explain_command(show_all: bool) -> Report[Case]:
    """Say what happened in a recording, what to do first and what that saves, on one screen.

    TARGET_HELP

    \b
    Examples:
      dynamo explain
      dynamo explain --all
      dynamo explain .dynamo/train-20260101-120000 --format json
      dynamo explain train.py --epochs 1
    """
    from dynamo_reporters.explain.report import report

    return report(show_all=show_all)


@report_command("guards")
@all_option("List every guard, those too that are only counted.")
def guards_command(show_all: bool) -> Report[Case]:
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


@report_command("ops")
@all_option("Every kind of op, not the first twenty.")
@documented_option(
    "--aot", is_flag=True, help="The operators of AOTAutograd's forward and backward graphs, where it trains."
)
def ops_command(show_all: bool, aot: bool) -> Report[Case]:
    """Count the operations of each graph, and how often they ran.

    TARGET_HELP

    \b
    Examples:
      dynamo ops
      dynamo ops --graph 1 --all
      dynamo ops --aot
    """
    from dynamo_reporters.ops import report

    return report(show_all=show_all, aot=aot)


@report_command("ranks")
def ranks_command() -> Report[Case]:
    """Compare the ranks of a distributed run: who differs first, at which line, and who waits for whom
    in a collective of a compiled graph.

    It works while the job runs, while it hangs, and after it was killed.

    TARGET_HELP

    \b
    Examples:
      dynamo ranks
      dynamo ranks s3://bucket/runs/1234
      dynamo run -- torchrun --nproc-per-node 2 train.py
    """
    from dynamo_reporters.ranks import report

    return report()


@report_command("recompiles")
@all_option("Every cache entry that failed, not the newest alone.")
def recompiles_command(show_all: bool) -> Report[Case]:
    """Show which frames were compiled again, which guard failed on which values, and what to do about it.

    TARGET_HELP

    \b
    Examples:
      dynamo recompiles
      dynamo recompiles --frame forward --all
      dynamo recompiles train.py                 run it first
    """
    from dynamo_reporters.recompiles import report

    return report(show_all=show_all)
