"""A recording that is named on a command line: a path, or a URL, of which there is a copy to read."""

import sys
import time
from pathlib import Path
from typing import Any

import click

from dynamo_core.recording.remote import fetched, is_url
from dynamo_core.shared.untrusted import printable

_BEFORE_PROGRESS = 1.0  # seconds


class RecordingPath(click.Path):
    """The path of a recording, or of the copy of one at a URL."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fetch what is at a URL."""
        return (
            copy_of(value) if isinstance(value, str) and is_url(value) else super().convert(value, param, ctx)
        )


def copy_of(url: str) -> Path:
    """Of a recording at a URL, to be read here; that it is not the recording itself is said."""
    from .running import say

    with ProgressBar(f"fetching {url}") as progress:
        copy = fetched(url, progress.advance)
    say(f"dynamo: read from {url} ({copy.name}); for other reports name the URL again")
    return copy


class ProgressBar:
    """A bar on stderr, once the work has taken a second; only where stderr is a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._begun = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """Show that `done` bytes of `total` are read."""
        if self._bar is None:
            if time.monotonic() - self._begun < _BEFORE_PROGRESS or not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(escape(printable(self._title)), total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total)
