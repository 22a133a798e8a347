"""`dynamo ls`: the recordings in a folder."""

import os
from collections.abc import Sequence
from pathlib import Path

from dynamo_core.analysis.verdict import ending
from dynamo_core.model import Run
from dynamo_core.recording.files import read_run_file
from dynamo_core.shared.errors import DynamoError

from .page.blocks import Block, Paragraph, table


def listing_blocks(recordings: Sequence[Path]) -> list[Block]:
    """A line a recording: name, when it began, size, command, how it ended."""
    if not recordings:
        return [Paragraph("no recordings")]
    rows = []
    for path in recordings:
        size = _megabytes(_size(path))
        try:
            run = read_run_file(path) or {}
            cells = [str(run["started"]), size, " ".join(run["command"]), ending(Run.of(run))]
        except (DynamoError, KeyError, TypeError) as error:
            cells = ["", size, "", f"cannot be read: {error}"]
        rows.append([str(path), *cells])
    return [table("recording|started|size|command|program", rows)]


def _size(folder: Path) -> int | None:
    """Of the files in it, not of what links lead to; None where they cannot be looked at."""
    try:
        with os.scandir(folder) as files:
            return sum(file.stat(follow_symlinks=False).st_size for file in files)
    except OSError:
        return None


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.1f} MB"
