"""What is too much for a page, cut short: a recording may be made to have a table of a million rows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from .blocks import Block, Bullets, Code, Comparison, Heading, Intervals, Paragraph, Table

_MOST_ITEMS = 10_000  # rows, bullets or lines of a comparison; more takes more than seconds to lay out
_LONGEST_CODE = 4_000_000  # characters
_LONGEST_TEXT = 100_000  # characters of a paragraph, or a cell
_Item = TypeVar("_Item")


def bounded(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same blocks, of which those that are too large are cut, and say so."""
    for block in blocks:
        if isinstance(block, Table):
            rows = [[_text(cell) for cell in row] for row in _items(block.rows)]
            yield replace(block, rows=rows)
            yield from _rest(block.rows)
        elif isinstance(block, Bullets):
            yield replace(block, items=[_text(item) for item in _items(block.items)])
            yield from _rest(block.items)
        elif isinstance(block, Comparison):
            yield replace(block, changes=_items(block.changes))
            yield from _rest(block.changes)
        elif isinstance(block, Code):
            yield replace(block, text=block.text[:_LONGEST_CODE])
            more = len(block.text) - _LONGEST_CODE
            if more > 0:
                yield Paragraph(f"… and {more:,} more characters; --format json has all", "dim")
        elif isinstance(block, Intervals):
            yield replace(block, estimates=_items(block.estimates))
        elif isinstance(block, Heading | Paragraph):
            yield replace(block, text=_text(block.text))


def _items(items: Sequence[_Item]) -> Sequence[_Item]:
    return items if len(items) <= _MOST_ITEMS else items[:_MOST_ITEMS]


def _rest(items: Sequence[object]) -> Iterator[Block]:
    if len(items) > _MOST_ITEMS:
        yield Paragraph(f"… and {len(items) - _MOST_ITEMS:,} more; --format json has all", "dim")


def _text(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
