"""A table for a terminal with lines between its rows that go across all columns."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from .blocks import Table
from .indented import Indented

_GAP = 2  # columns between two cells
_INDENT = 4
_KEYS = 2  # columns that say what a row is about: they stay in it
_NARROWEST = 8
_WIDEST_WORD = 40  # columns; a longer one is broken where nothing else helps
_USUAL = 0.8  # of the cells of a column; the others may wrap
_ABOVE = "cyan"


class TableWithLines:
    """A table with `is_above` columns; each column is as wide as its cells.

    Where there is no room for all of them, the widest column wraps, if only few of its cells have to. Else
    they go to a line of their own below their rows, and so on with the next widest.
    """

    def __init__(self, block: Table) -> None:
        self._block = block
        self._above = [i for i, column in enumerate(block.columns) if column.is_above]
        self._kept = [i for i, column in enumerate(block.columns) if not column.is_above]
        headings = [column.name for column in block.columns]
        self._widths = {
            i: max(cell_len(line) for row in (headings, *block.rows) for line in row[i].split("\n"))
            for i in self._kept
        }
        self._least_widths = least_widths(block)
        self._usual_widths = {
            i: sorted(cell_len(row[i]) for row in block.rows)[int(len(block.rows) * _USUAL)]
            if block.rows
            else 0
            for i in self._kept
        }

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        lines = (cell_len(row[i]) for row in self._block.rows for i in self._above)
        return Measurement(1, max(1, min(max([self._room_for(self._kept), *lines]), options.max_width)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, widths = self._layout(options.max_width)
        below = [i for i in self._kept if i not in columns]
        headings = [column.name for column in self._block.columns]
        grid = self._grid(columns, widths)
        grid.add_row(*(Text(headings[i], "bold") for i in columns))
        if below:
            yield grid
            yield from _line_below(headings, below, "bold")
            grid = self._grid(columns, widths)
        for row in self._block.rows:
            above = [row[i] for i in self._above if row[i]]
            if above:
                yield from _unless_empty(grid)
                yield from (Text(line, _ABOVE, overflow="fold") for line in above)
                grid = self._grid(columns, widths)
            grid.add_row(*(Text(row[i]) for i in columns))
            if below:
                yield grid
                yield from _line_below(row, below, "")
                grid = self._grid(columns, widths)
        yield from _unless_empty(grid)

    def _room_for(self, columns: Sequence[int]) -> int:
        return sum(self._widths[i] for i in columns) + _GAP * (len(columns) - 1)

    def _layout(self, room: int) -> tuple[list[int], list[int]]:
        """The columns that stay in their rows, and their widths."""
        columns, widths = list(self._kept), dict(self._widths)
        while self._room_for(columns) > room and len(columns) > _KEYS:
            widest = max(columns[_KEYS:], key=lambda i: self._widths[i])
            left = room - (self._room_for(columns) - self._widths[widest])
            if left >= max(self._usual_widths[widest], self._least_widths[widest], _NARROWEST):
                widths[widest] = left
                break
            columns.remove(widest)
        while sum(self._least_widths[i] for i in columns) + _GAP * len(columns) > room and len(columns) > 1:
            columns.remove(
                max(columns[1:], key=lambda i: self._least_widths[i])
            )  # of the keys, the first stays
        narrowed = fitted(
            [widths[i] for i in columns],
            room - _GAP * (len(columns) - 1),
            [min(self._least_widths[i], _WIDEST_WORD) for i in columns],
        )
        return columns, narrowed

    def _grid(self, columns: Sequence[int], widths: Sequence[int]) -> RichTable:
        grid = RichTable.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
        for i, width in zip(columns, widths, strict=True):
            is_number = self._block.columns[i].is_number
            grid.add_column(width=width, overflow="fold", justify="right" if is_number else "left")
        return grid


def _unless_empty(grid: RichTable) -> Iterator[RenderableType]:
    if grid.row_count:
        yield grid


def _line_below(row: Sequence[str], columns: Sequence[int], style: str) -> Iterator[RenderableType]:
    """Cells in a line, set in further than the row they belong to."""
    text = (" " * _GAP).join(row[i] for i in columns if row[i])
    if text:
        yield Indented(Text(text, style, overflow="fold"), _INDENT)


def fitted(widths: Sequence[int], room: int, least: Sequence[int] | None = None) -> list[int]:
    """The widths, with the widest cut down until all of them together have room, or have their `least`."""
    narrowed, least = list(widths), least or [_NARROWEST] * len(widths)
    while sum(narrowed) > room:
        wide = [i for i, width in enumerate(narrowed) if width > least[i]]
        if not wide:
            break
        narrowed[max(wide, key=lambda i: narrowed[i])] -= 1
    return narrowed


def least_widths(block: Table) -> list[int]:
    """The width that each column needs so that no path, name or number is broken."""
    return [
        max(
            cell_len(text)
            for cell in (column.name, *(row[i] for row in block.rows))
            for text in ([cell] if column.is_number else cell.split() or [""])
        )
        for i, column in enumerate(block.columns)
    ]
