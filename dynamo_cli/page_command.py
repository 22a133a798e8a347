"""`dynamo report`: the page."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.bundle.archive import Replacements, files_of, write_without_source
from dynamo_core.case import Case
from dynamo_core.launch.process import end_like
from dynamo_core.recording.bundle_file import is_bundle, unpacked
from dynamo_core.recording.read import read
from dynamo_core.shared.errors import CannotRecord
from dynamo_core.shared.safe_writing import replace_in_one_step
from dynamo_core.shared.text import printable
from dynamo_reporters.page.blocks import Block, Bullets, Heading, Paragraph

from .options import RUN_OPTIONS, documented_option, rank_option, run_options, written_file_option
from .report_command import ReportCommand, page_contents, page_of, read_with_progress, target_recording
from .report_output import put, stdout


@click.command("report", cls=ReportCommand, further=RUN_OPTIONS | {"rank"})
@written_file_option(
    *("-o", "--output", "report_file"),
    default=Path("dynamo-report.html"),
    envvar="DYNAMO_REPORT_OUTPUT",
    text="Write the page to FILE.",
)
@documented_option(
    "--open", "is_opened", is_flag=True, envvar="DYNAMO_REPORT_OPEN", help="Open the page in the browser."
)
@rank_option
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
    put(page_of(Case(recording)), report_file)
    size = report_file.stat().st_size / 1e6
    print(f"dynamo: wrote {printable(str(report_file))}, {size:,.1f} MB", file=sys.stderr)
    if is_opened:
        webbrowser.open(report_file.resolve().as_uri())
    if ending is not None:
        end_like(ending)


_READABLE_BY_ALL = 0o644


@click.command("bundle", cls=ReportCommand, further=RUN_OPTIONS)
@written_file_option(
    *("-o", "--output", "bundle_file"),
    default=Path("bundle.zip"),
    envvar="DYNAMO_BUNDLE_OUTPUT",
    text="The zip file to write. One that is there is replaced.",
)
@documented_option(
    "--without-source",
    is_flag=True,
    help="Put placeholders for source, names, paths, command lines and values of environment variables, the "
    "same for the same. What stands for what is written to FILE.replaced.json, which is yours alone.",
)
@run_options("--recording")
@click.pass_context
def bundle_command(ctx: click.Context, /, bundle_file: Path, without_source: bool, **options: Any) -> None:
    """Put a recording into one file, to attach to an issue.

    The file has the recording, a page to read and the versions; `dynamo explain FILE` and the other reports
    read it as it is.

    TARGET_HELP

    \b
    Examples:
      dynamo bundle                                    the newest recording, as it is
      dynamo bundle --without-source -o issue.zip      no name, path or text of yours
      dynamo explain issue.zip                         for whoever receives it
    """
    target, ending = target_recording(ctx, options)
    replaced = _write(target, bundle_file, without_source)
    with stdout() as out:
        from dynamo_reporters.page.console import show

        show(out, _blocks(bundle_file, replaced))
    if ending is not None:
        end_like(ending)


def _write(target: Path, output: Path, without_source: bool) -> Replacements | None:
    """Write the list of what was replaced, then the bundle: one without its list helps nobody."""
    from dynamo_core.bundle.archive import write_archive
    from dynamo_reporters.documents import json_text
    from dynamo_reporters.listing import CONTENTS, bundle_pages

    read(target)  # what is no recording is said to be none before anything is made of it
    with _folder_of(target) as source, TemporaryDirectory(prefix="dynamo_bundle_") as temporary:
        replaced = write_without_source(source, Path(temporary)) if without_source else None
        folder = Path(temporary) if without_source else source
        recording = replace(read(folder, CONTENTS), path=Path("recording" if without_source else target.name))
        counts = None if replaced is None else {kind: len(of) for kind, of in replaced.originals.items()}
        pages = bundle_pages(recording, counts, {} if replaced is None else replaced.left_out)
        content = BytesIO()
        try:
            write_archive(content, pages, files_of(folder))
            if replaced is not None:
                replace_in_one_step(
                    list_beside(output), (json_text(replaced.originals, indent=1) + "\n").encode()
                )
            replace_in_one_step(output, content.getvalue(), _READABLE_BY_ALL & ~_umask())
        except OSError as error:
            raise CannotRecord(f"cannot write {error.filename or output}: {error.strerror}") from error
    return replaced


@contextmanager
def _folder_of(target: Path) -> Iterator[Path]:
    if is_bundle(target):
        with unpacked(target) as folder:
            yield folder
    else:
        yield target


def list_beside(output: Path) -> Path:
    """Where it is written what stands for what."""
    return output.with_name(f"{output.name}.replaced.json")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _blocks(output: Path, replaced: Replacements | None) -> list[Block]:
    blocks: list[Block] = [Heading(f"{output}: {output.stat().st_size / 1024:,.0f} kB", 1)]
    if replaced is None:
        text = (
            "It holds lines of source, paths, the command line and settings from the environment, as they "
            "were recorded; `--without-source` makes one with placeholders."
        )
        return [*blocks, Paragraph(text)]
    counts = [f"{len(of):,} of kind {kind}" for kind, of in replaced.originals.items()]
    return [
        *blocks,
        Paragraph("Replaced by placeholders:"),
        Bullets(counts or ["nothing"]),
        Paragraph(f"What stands for what is in {list_beside(output)}: keep it, and do not send it."),
        Paragraph(
            "Look at report.html in the file before you send it: what each line does (its operators and its "
            "calls of torch), shapes and whole numbers of up to six digits are not hidden."
        ),
    ]
