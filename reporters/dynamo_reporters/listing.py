"""`dynamo ls`: the recordings in a folder."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dynamo_core.errors import DynamoError
from dynamo_core.recording.files import read_run_file

from .verdict import ending


def render_listing(recordings: Sequence[Path]) -> RenderableType:
    """A line a recording: name, when it began, size, command, how it ended."""
    if not recordings:
        return Text("no recordings")
    table = Table(box=None, pad_edge=False)
    for heading in ("recording", "started", "size", "command", "program"):
        table.add_column(heading, overflow="fold")
    for path in recordings:
        size = sum(file.stat().st_size for file in path.iterdir() if file.is_file())
        try:
            run = read_run_file(path) or {}
            cells = [str(run["started"]), _megabytes(size), " ".join(run["command"]), ending(run)]
        except (DynamoError, KeyError, TypeError) as error:
            cells = ["", _megabytes(size), "", f"cannot be read: {error}"]
        table.add_row(str(path), *cells)
    return table


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
