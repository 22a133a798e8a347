"""Where a report goes, and in which form."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from dynamo_core.errors import CannotRecord
from dynamo_reporters.page.blocks import Block

from .run_options import documented_option

report_file_option = documented_option(
    "-o",
    "--output",
    "report_file",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DYNAMO_REPORT",
    metavar="FILE",
    help="Write the report to FILE instead of stdout.",
)

FORMATS = ("text", "markdown", "json")
_FORMAT_OF_ENDING = {".md": "markdown", ".markdown": "markdown", ".json": "json"}


def write_report(
    blocks: Callable[[], Iterable[Block]],
    document: Callable[[], dict[str, Any]],
    form: str,
    report_file: Path | None,
) -> None:
    """Write a report as one of FORMATS, to a file or else to stdout."""
    from dynamo_reporters.page.console import plain_text, show

    if form == "text" and report_file is None:
        show(sys.stdout, blocks())
        return
    if form == "json":
        content = json.dumps(document(), indent=2) + "\n"
    elif form == "markdown":
        from dynamo_reporters.page.markdown import to_markdown

        content = to_markdown(blocks())
    else:
        content = plain_text(blocks())
    put(content, report_file)


def put(content: str | bytes, report_file: Path | None) -> None:
    """Write it as it is; CannotRecord says why a file cannot be written."""
    if report_file is None and isinstance(content, str):
        sys.stdout.write(content)
        return
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if report_file is None:
        sys.stdout.buffer.write(data)
        return
    try:
        report_file.write_bytes(data)
    except OSError as error:
        raise CannotRecord(f"cannot write {report_file}: {error.strerror}") from error


def format_of(report_file: Path | None, further_endings: Mapping[str, str]) -> str:
    """The format that the file's name asks for, by its longest ending that is known; else text."""
    of_ending = {**_FORMAT_OF_ENDING, **further_endings}
    name = "" if report_file is None else report_file.name.lower()
    fitting = [ending for ending in of_ending if name.endswith(ending)]
    return of_ending[max(fitting, key=len)] if fitting else "text"
