"""One place where consoles are made: colour, width and control characters are decided here."""

import io
import os
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, RenderableType

_UNBOUNDED = 100_000  # columns; a pipe has no edge at which to crop


def console_for(file: TextIO) -> Console:
    """A console on `file`. Rich minds NO_COLOR and FORCE_COLOR; in a pipe nothing is wrapped or cropped."""
    width = None if file.isatty() else _UNBOUNDED
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def show(file: TextIO, renderables: Iterable[RenderableType]) -> None:
    """Print to a terminal, or plainly, without padding, to anything else."""
    if not (file.isatty() or "FORCE_COLOR" in os.environ):
        file.write(plain_text(renderables))
        return
    console = console_for(file)
    for renderable in renderables:
        console.print(renderable)


def plain_text(renderables: Iterable[RenderableType]) -> str:
    """What `renderables` look like in a pipe."""
    buffer = io.StringIO()
    console = console_for(buffer)
    for renderable in renderables:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))
