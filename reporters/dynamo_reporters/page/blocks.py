"""What a report is made of: blocks, said once and rendered for a terminal, a pipe or markdown.

A block says what something is, never how it looks; `terminal.py` and `markdown.py` decide that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from dynamo_core.analysis.words import number
from dynamo_core.shared.quick_dataclass import dataclass

Role = Literal["plain", "strong", "dim", "warning", "advice"]
Kept = Literal["kept", "removed", "inserted", "note"]


@dataclass(frozen=True)
class Heading:
    """Begins a section (level 1 or 2) or an item in one (level 3). What follows belongs to it."""

    text: str
    level: Literal[1, 2, 3] = 2


@dataclass(frozen=True)
class Paragraph:
    """A sentence or more; line breaks in it are kept."""

    text: str
    role: Role = "plain"


@dataclass(frozen=True)
class Bullets:
    """A list of short texts."""

    items: Sequence[str]
    role: Role = "plain"


@dataclass(frozen=True)
class Column:
    """The heading of a column; numbers are set to the right.

    The cells of an `is_above` column that are not empty stand on a line of their own above their rows, where
    they squeeze nothing; in markdown it is a column like any other.
    """

    name: str
    is_number: bool = False
    is_above: bool = False


@dataclass(frozen=True)
class Table:
    """Cells as text, a row at a time. Without headings in any column, none are shown."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Code:
    """Source text. `first_line` numbers its lines; `marked` are those (numbers) that matter most."""

    text: str
    language: str = "python"
    first_line: int | None = None
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Change:
    """A row of a comparison: what is on both sides, on one, or a note on them."""

    kind: Kept
    text: str


@dataclass(frozen=True)
class Comparison:
    """Two versions of a text, aligned."""

    before: str
    after: str
    changes: Sequence[Change]


@dataclass(frozen=True)
class Estimate:
    """A ratio, above 0, and the interval in which it lies."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Intervals:
    """Ratios beside 1, to be drawn. A table says the same, so that what shows only text leaves this out."""

    of: str
    estimates: Sequence[Estimate]


Block = Heading | Paragraph | Bullets | Table | Code | Comparison | Intervals


def table(headings: str, rows: Sequence[Sequence[str]]) -> Table:
    """A table with columns `a|b>|c`; a name that ends with > is a number's."""
    columns = [Column(name.rstrip(">"), name.endswith(">")) for name in headings.split("|")]
    return Table(columns, rows)


def section(title: str, content: Bullets | Table, level: Literal[1, 2, 3] = 2) -> Iterator[Block]:
    """A list or a table under its heading; nothing where it is empty."""
    if content.items if isinstance(content, Bullets) else content.rows:
        yield Heading(title, level)
        yield content


def rest(count: int, what: str, where: str, plural: str | None = None) -> Iterator[Block]:
    """How many more there are than are shown, and where; nothing if there are none."""
    if count > 0:
        more = number(count, f"more {what}", plural and f"more {plural}")
        yield Paragraph(f"… and {more}{where}", "dim")


# Bars of block characters, for terminals and plain text.


def bar(value: float, longest: float, width: int = 24) -> str:
    """A bar of block characters, `width` cells for `longest`; whatever is more than nothing is seen."""
    if longest <= 0 or value <= 0:
        return ""
    eighths = max(1, round(min(value / longest, 1.0) * width * 8))
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


# What is too much for a page, cut short: a recording may be made to have a table of a million rows.


_MOST_ITEMS = 10_000  # rows, bullets or lines of a comparison; more takes more than seconds to lay out
_LONGEST_CODE = 4_000_000  # characters
_LONGEST_TEXT = 100_000  # characters of a paragraph, or a cell
_Item = TypeVar("_Item")


def bounded(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks; those that are too large are cut, and say so. Empty lists are left out."""
    for block in blocks:
        if isinstance(block, Table):
            rows = [[_text(cell) for cell in row] for row in _items(block.rows)]
            yield replace(block, rows=rows)
            yield from _rest(block.rows)
        elif isinstance(block, Bullets) and block.items:
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
