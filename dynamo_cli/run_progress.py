"""What runs now, of work that takes minutes: a bar on a terminal, else a line for each run."""

import sys
from typing import Any

from .running import say


class RunProgress:
    """`unit` is what is counted."""

    def __init__(self, unit: str = "run") -> None:
        self._unit = unit
        self._bar: Any = None

    def __enter__(self) -> "RunProgress":
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("")
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def announce(self, what: str, done: int, in_all: int, remaining: str | None = None) -> None:
        """Say what is about to run, and how long it takes yet, where that is known."""
        if self._bar is None:
            more = "" if remaining is None else f"; {remaining}"
            say(f"dynamo: {what} ({self._unit} {done + 1} of {in_all}{more})")
        else:
            more = "" if remaining is None else f" ({remaining})"
            self._bar.update(self._task, description=f"{what}{more}", completed=done, total=in_all)

    def say(self, line: str) -> None:
        """A line that stays, above the bar."""
        if self._bar is None:
            say(line)
        else:
            self._bar.console.print(line, markup=False, highlight=False)
