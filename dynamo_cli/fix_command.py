"""`dynamo fix`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from dynamo_core.case import Case
from dynamo_core.findings import CONTENTS
from dynamo_core.fix.applying import apply_all, apply_fix
from dynamo_core.fix.proven import save
from dynamo_core.fix.search import Plan, fix, refuse_unknown
from dynamo_core.fix.trial import Fixes
from dynamo_core.recording.read import read

from . import main
from .durations import seconds
from .options import RUN_OPTIONS, documented_option, run_options, written_file_option
from .repeated_runs import ask_to_run, requested_again
from .report_command import ReportCommand
from .report_output import Output, put, write_report, writes_report
from .running import say

ALL = 0
"""In place of a fix's number: all of them."""


class FixToApply(click.IntRange):
    """The number of a fix, or ALL."""

    def __init__(self) -> None:
        super().__init__(min=1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Also takes the word `all`."""
        return ALL if value in ("all", ALL) else super().convert(value, param, ctx)


@click.command("fix", cls=ReportCommand, further=RUN_OPTIONS)
@documented_option(
    "--apply",
    "to_apply",
    type=FixToApply(),
    metavar="N|all",
    help="Make the edit of fix N of the last `dynamo fix` in your files, or all of them; nothing is run. The "
    "patch that undoes it is left in .dynamo.",
)
@written_file_option(
    *("--patch", "patch_file"),
    text="Write the proven fixes as one patch to FILE, for `git apply` or `patch -p1`.",
)
@documented_option(
    "--budget",
    callback=seconds,
    default="10m",
    metavar="TIME",
    help="Begin no further run after so long: 90s, 10m, 1h. The trials of --try in the first run take a "
    "quarter of it at most.  [default: 10m]",
)
@documented_option(
    "--most-runs",
    type=click.IntRange(min=3),
    default=40,
    metavar="N",
    help="Run the program no more often.",
)
@documented_option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="End each run before call N+1 of a compiled frame, for a program that takes long: what is proven is "
    "proven of these steps.",
)
@documented_option(
    "--finding",
    "only",
    multiple=True,
    metavar="IDENTITY",
    help="Only this finding, by its identity in `dynamo explain --format json`; repeat for more.",
)
@documented_option("-y", "--yes", is_flag=True, help="Do not ask before the program is run again.")
@writes_report(has_budget=False)
@run_options("--recordings")
@click.pass_context
def fix_command(
    ctx: click.Context,
    /,
    to_apply: int | None,
    patch_file: Path | None,
    budget: float,
    most_runs: int,
    steps: int | None,
    only: tuple[str, ...],
    yes: bool,
    out: Output,
    output: Path | None,
    **options: Any,
) -> None:
    """Try the remedies of what `dynamo explain` finds, and show those that are proven to cure.

    The program is run twice as it is, then once with each remedy in turn, on a copy of its files. What is
    kept has the finding gone, no other come, the same output and ending, and is not slower. Your files are
    never touched without --apply.

    A remedy is a setting, an argument or an edit; a finding counts as gone where it is met less often, too.
    All that is kept is then run together, with each graph's first calls beside eager (--verify).

    TARGET is a recording that was made here, whose program is run again as it was, or without one the newest
    in .dynamo. Or it is a program, named as FILE.py, -m MODULE, -c CODE or -- COMMAND. What the program
    writes, it writes each time: you are asked before it is run.

    \b
    Examples:
      dynamo fix train.py --epochs 1
      dynamo fix --patch fix.patch train.py
      dynamo fix --apply 1
    """
    if to_apply is not None:
        _apply(to_apply)
        return
    request, recording = requested_again(ctx, options)
    case = None if recording is None else Case(read(recording, CONTENTS))
    refuse_unknown(only, None if case is None else case.findings)
    numbers = {} if case is None else case.action_numbers
    request = replace(request, settings=request.settings._replace(stop_after=steps))
    if not yes:
        ask_to_run(request, f"up to {most_runs} times")
    main.end_early_on_sigterm()
    with _folder(output) as folder:
        result = fix(Plan(request, folder, most_runs, budget, only, numbers), _announce)
        try:
            _write(result, out, patch_file)
        finally:  # each takes long runs to make, and may fail where the other does not
            save(result, request.program)
    if result.stopped == "it was interrupted":
        ctx.exit(main.exit_code())


def _apply(number: int) -> None:
    for line in apply_all() if number == ALL else apply_fix(number):
        say(f"dynamo: {line}")


@contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """Where the runs are recorded: a new folder that is kept, or one that goes with us."""
    if output is not None:
        output.mkdir(mode=0o700, parents=True)
        yield output.absolute()
        return
    with TemporaryDirectory(prefix="dynamo-fix-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def _announce(what: str, done: int) -> None:
    say(f"dynamo: run {done + 1}: {what}")


def _write(result: Fixes, out: Output, patch_file: Path | None) -> None:
    from dynamo_core.fix.applying import patch_text
    from dynamo_reporters.fix import report

    if patch_file is not None:
        put(patch_text(result.patches), patch_file)
    write_report(report(), result, out)
