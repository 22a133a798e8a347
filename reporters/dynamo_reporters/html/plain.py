"""A report that is of no one recording as an HTML file: its blocks, and no sections."""

from collections.abc import Sequence

from ..page.blocks import Block, Heading
from .blocks import elements
from .document import whole_file
from .element import h
from .links import Links


def page_of_blocks(blocks: Sequence[Block]) -> bytes:
    """The file. Its first heading, where it begins with one, is its title."""
    first = blocks[0] if blocks else None
    title = first.text if isinstance(first, Heading) else "Report"
    rest = blocks[1:] if isinstance(first, Heading) else blocks
    body = [h("h1", title), *elements(rest, Links([], {}))]
    header = h("header", h("div", "dynamo", class_="brand"))
    return whole_file(f"dynamo: {title}", [header, h("main", body)], [], "")
