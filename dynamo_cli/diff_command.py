"""`dynamo diff`."""

from pathlib import Path

import click

from .help_pages import CommandWithHelp
from .options import documented_option
from .report_command import RecordingPath
from .report_output import Output, write_report, writes_report

_DIFFERENT = 1


@click.command("diff", cls=CommandWithHelp)
@click.argument("before", type=RecordingPath())
@click.argument("after", type=RecordingPath())
@writes_report()
@documented_option(
    "--exit-code", is_flag=True, help="End with 1 where something differs, as `git diff --exit-code` does."
)
@documented_option(
    "--name",
    metavar="NAME",
    help="Which program of a lock file the other side is.  [default: the one of its name]",
)
@click.pass_context
def diff_command(
    ctx: click.Context,
    before: Path,
    after: Path,
    out: Output,
    exit_code: bool,
    name: str | None,
) -> None:
    """Say what differs between two recordings, or TORCH_TRACE logs: BEFORE and AFTER a change, say.

    Findings, graphs, ops, guards, recompiles and backends are compared by what they are: moved lines, other
    folders, renamed functions and locals are no differences. Times, versions and settings are shown and do
    not count as differences.

    Either side may be a lock file of `dynamo check`; the facts that it keeps are compared then.

    \b
    Examples:
      dynamo diff .dynamo/before .dynamo/after
      dynamo diff before after --format markdown -o comment.md
      dynamo diff before after --exit-code
      dynamo diff dynamo.lock .dynamo/after
    """
    from dynamo_core.compare.lock import is_lock_file

    if is_lock_file(before) or is_lock_file(after):
        verdict = _with_lock_file(before, after, name, out)
    else:
        verdict = _of_recordings(before, after, out)
    if exit_code and verdict != "nothing differs":
        ctx.exit(_DIFFERENT)


def _of_recordings(before: Path, after: Path, out: Output) -> str:
    from dynamo_core.compare import compare
    from dynamo_core.compare.earlier import read_both
    from dynamo_reporters.diff import report

    was, now = read_both(before, after)
    difference = compare(was, now)
    write_report(report(was, now), difference, out)
    return difference.verdict


def _with_lock_file(before: Path, after: Path, name: str | None, out: Output) -> str:
    from dynamo_core.compare.lock import compare_with_lock
    from dynamo_reporters.diff import locked_report

    difference = compare_with_lock(before, after, name)
    write_report(locked_report(before, after), difference, out)
    return difference.verdict
