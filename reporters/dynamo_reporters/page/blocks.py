"""What a report is made of: blocks, said once and rendered for a terminal, a pipe or markdown.

A block says what something is, never how it looks; `terminal.py` and `markdown.py` decide that.
"""

from collections.abc import Sequence
from typing import Literal

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
    """A row of a comparison: what stands on either side. A note stands across both."""

    kind: Kept
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two versions of a text, aligned: side by side where there is room, else one above the other."""

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
