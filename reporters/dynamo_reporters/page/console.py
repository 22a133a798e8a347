"""Blocks to a file: coloured and wrapped on a terminal, plain and whole in anything else."""

import io
import os
import shutil
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console

from .blocks import Block
from .terminal import renderables

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
    _print(file, blocks, width=width)


def plain_text(blocks: Iterable[Block]) -> str:
    """What `blocks` look like in a pipe or a file: no colour, nothing wrapped."""
    buffer = io.StringIO()
    _print(buffer, blocks, width=_NO_EDGE, color_system=None)
    return buffer.getvalue()


def _print(file: TextIO, blocks: Iterable[Block], **settings: Any) -> None:
    console = Console(file=file, highlight=False, markup=False, emoji=False, force_jupyter=False, **settings)
    for renderable in renderables(blocks):
        console.print(renderable)
