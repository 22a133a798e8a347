"""`dynamo report`: the page."""

import sys
import webbrowser
from pathlib import Path
from typing import Any

import click

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.launch.process import end_like
from dynamo_core.shared.untrusted import printable

from .report_command import (
    ReportCommand,
    page_contents,
    page_of,
    read_with_progress,
    target_recording,
)
from .report_output import put
from .run_options import RUN_OPTIONS, documented_option, run_options

_DEFAULT_FILE = Path("dynamo-report.html")


@click.command("report", cls=ReportCommand, further=RUN_OPTIONS | {"rank"})
@documented_option(
    "-o",
    "--output",
    "report_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=_DEFAULT_FILE,
    envvar="DYNAMO_REPORT_OUTPUT",
    metavar="FILE",
    help="Write the page to FILE.",
)
@documented_option(
    "--open", "is_opened", is_flag=True, envvar="DYNAMO_REPORT_OPEN", help="Open the page in the browser."
)
@documented_option(
    "--rank", type=int, metavar="N", envvar="DYNAMO_REPORT_RANK", help="Only rank N of a distributed run."
)
@run_options("--recording")
@click.pass_context
def page_command(
    ctx: click.Context, /, report_file: Path, is_opened: bool, rank: int | None, **options: Any
) -> None:
    """Make the page of a recording: one HTML file that shows what was compiled, on the program's own lines.

    It needs no network and no server, and can be sent to others as it is. Every report can be written so,
    with `-o FILE.html`: the page then opens at its section.

    TARGET_HELP

    \b
    Examples:
      dynamo report --open
      dynamo report .dynamo/train-20260101-120000 -o report.html
      dynamo report train.py --epochs 1
    """
    path, ending = target_recording(ctx, options)
    recording = select(read_with_progress(path, page_contents()), Selection(None, None, None, None, rank))
    put(page_of(recording), report_file)
    size = report_file.stat().st_size / 1e6
    print(f"dynamo: wrote {printable(str(report_file))}, {size:,.1f} MB", file=sys.stderr)
    if is_opened:
        webbrowser.open(report_file.resolve().as_uri())
    if ending is not None:
        end_like(ending)
