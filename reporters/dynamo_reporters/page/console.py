"""Blocks to a file: coloured and wrapped on a terminal, plain and whole in anything else."""

import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style

from .blocks import Block
from .terminal import renderables

# Places in files as links (OSC 8), on terminals that have them; elsewhere editors find `path:line`.


_PLACE = re.compile(r"(?<![\w/.~-])([\w./@+-]*[\w@+-]\.pyi?):(\d+)\b")
_OLDEST_VTE = 5000  # 0.50; earlier ones crashed on links
_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio")
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "wezterm")
_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")


def has_links(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is known to have links; FORCE_HYPERLINK=1 or 0, as elsewhere, says so."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced != "0"
    if "CI" in environment or environment.get("TERM") == "dumb":
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or environment.get("TERM") in _TERMS
        or any(name in environment for name in _VARIABLES)
        or (vte.isdecimal() and int(vte) >= _OLDEST_VTE)
    )


class Linked:
    """Something drawn, in which each place in a file that is there leads to the file."""

    def __init__(self, drawn: RenderableType) -> None:
        self._drawn = drawn

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._drawn)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _linked(console.render(self._drawn, options))


def _linked(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        position = 0
        for found in _PLACE.finditer(segment.text) if segment.control is None else ():
            address = _address(found[1], found[2])
            if address is not None:
                style = (segment.style or Style.null()) + Style(link=address)
                yield Segment(segment.text[position : found.start()], segment.style)
                yield Segment(found[0], style)
                position = found.end()
        yield Segment(segment.text[position:], segment.style, segment.control)


def _address(file: str, line: str) -> str | None:
    """None for a file that is not there, as of a recording from elsewhere."""
    try:
        return f"{Path(file).absolute().as_uri()}#L{line}" if os.path.isfile(file) else None
    except (OSError, ValueError):
        return None


# Blocks to a file:


_NO_EDGE = 100_000  # columns; a pipe has no edge at which to wrap or crop
_LOG_WIDTH = 160  # columns, where FORCE_COLOR asks for colour in a CI log


def show(file: TextIO, blocks: Iterable[Block]) -> None:
    """Print to a terminal (rich minds NO_COLOR), or plainly to anything else."""
    if file.isatty():
        width = None
    elif os.environ.get("FORCE_COLOR"):
        width = shutil.get_terminal_size((_LOG_WIDTH, 0)).columns
    else:
        file.write(plain_text(blocks))
        return
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False, force_jupyter=False)
    links = has_links(os.environ)
    for renderable in renderables(blocks):
        console.print(Linked(renderable) if links else renderable)


def plain_text(blocks: Iterable[Block]) -> str:
    """What `blocks` look like in a pipe or a file: no colour, nothing wrapped."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=_NO_EDGE,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )
    for renderable in renderables(blocks):
        console.print(renderable)
    return buffer.getvalue()
