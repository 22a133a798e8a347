"""While something is being compiled, the terminal's last line says what, for how long, and how many are done.

The launcher draws it from what the recording holds so far; the program's process knows nothing of it. The
last row does not scroll while the line is there, as with apt's progress bar: what the program prints at any
moment goes where it would, and never into our line.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from dynamo_core.analysis.in_progress import compiling_words
from dynamo_core.model import Compiling, Process
from dynamo_core.recording.read import Follower

_STDERR = 2
_SHOWN_AFTER_NS = 1_000_000_000  # of one compile
_FEWEST_ROWS = 4

Watch = Callable[[Path], Callable[[], None]]


@contextmanager
def progress_line(*, quiet: bool) -> Iterator[Watch | None]:
    """What follows a recording and shows its compiles; None where nobody would look. Erased at the end."""
    if quiet or not _is_watched():
        yield None
        return
    row = _LastRow()

    def follow(recording: Path) -> Callable[[], None]:
        follower = Follower(recording)

        def show_compiles() -> None:
            follower.advance()
            row.show(progress_text(follower.processes, time.time_ns()))

        return show_compiles

    try:
        yield follow
    finally:
        row.show(None)


def progress_text(processes: Iterable[Process], now_ns: int) -> str | None:
    """The line, from the second second of a compile on."""
    processes = list(processes)
    running = [compiling for process in processes for compiling in process.compiling]
    shown = sorted(
        (compiling for compiling in running if now_ns - compiling.began_ns >= _SHOWN_AFTER_NS), key=_began
    )
    if not shown:
        return None
    first = shown[0]
    others = f", {len(running) - 1} more at once" if len(running) > 1 else ""
    done = sum(frame.outcome == "compiled" for process in processes for frame in process.frames)
    seconds = (now_ns - first.began_ns) // 1_000_000_000
    return f"dynamo: compiling for {seconds} s{others}, {done} done: {compiling_words(first)}"


def _began(compiling: Compiling) -> int:
    return compiling.began_ns


def _is_watched() -> bool:
    """Whether stderr is a terminal that obeys, and no log of a CI."""
    return os.isatty(_STDERR) and not os.environ.get("CI") and os.environ.get("TERM", "dumb") != "dumb"


class _LastRow:
    """The terminal's last row, ours while there is something to show."""

    def __init__(self) -> None:
        self._rows: int | None = None  # of the terminal, while its last one is ours
        self._shown: str | None = None

    def show(self, text: str | None) -> None:
        """Draw `text` there, or give the row back. The cursor stays where the program has left it."""
        try:
            size = os.get_terminal_size(_STDERR)
            if text is not None and (size.lines < _FEWEST_ROWS or not self._is_in_foreground()):
                text = None
            cells = None if text is None else set_cell_size(text, min(cell_len(text), size.columns - 1))
            if cells == self._shown and (cells is None or size.lines == self._rows):
                return
            self._shown = cells
            os.write(_STDERR, self._drawn(cells, size.lines).encode("utf-8", "replace"))
        except OSError:  # it is gone
            self._rows = None

    def _drawn(self, text: str | None, rows: int) -> str:
        """All in one write, so that nothing of the program's comes between."""
        drawn = ""
        if self._rows is not None and (text is None or self._rows != rows):
            drawn += f"\x1b7\x1b[{self._rows};1H\x1b[2K\x1b[r\x1b8"
            self._rows = None
        if text is not None:
            if self._rows is None:
                # Down and up again: where the cursor is on the last row, the screen scrolls by one.
                drawn += f"\x1bD\x1b[A\x1b7\x1b[1;{rows - 1}r\x1b8"
                self._rows = rows
            drawn += f"\x1b7\x1b[{rows};1H\x1b[2K{text}\x1b8"
        return drawn

    @staticmethod
    def _is_in_foreground() -> bool:
        return os.tcgetpgrp(_STDERR) == os.getpgrp()
