"""`dynamo ls`: the recordings in a folder."""

from collections.abc import Sequence
from pathlib import Path

from dynamo_core.errors import DynamoError
from dynamo_core.recording.files import read_run_file

from .explain.verdict import ending
from .page.blocks import Block, Paragraph, table


def listing_blocks(recordings: Sequence[Path]) -> list[Block]:
    """A line a recording: name, when it began, size, command, how it ended."""
    if not recordings:
        return [Paragraph("no recordings")]
    rows = []
    for path in recordings:
        size = sum(file.stat().st_size for file in path.iterdir() if file.is_file())
        try:
            run = read_run_file(path) or {}
            cells = [str(run["started"]), _megabytes(size), " ".join(run["command"]), ending(run)]
        except (DynamoError, KeyError, TypeError) as error:
            cells = ["", _megabytes(size), "", f"cannot be read: {error}"]
        rows.append([str(path), *cells])
    return [table("recording|started|size|command|program", rows)]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
