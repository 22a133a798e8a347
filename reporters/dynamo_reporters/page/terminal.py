"""Blocks for a terminal: colour, width and wrapping are decided here, and only here.

Colours are those of the terminal's own palette and no background is set, so that dark and light ones do. What
would vanish on a light one is not used: yellow, bright colours, and bold ones, which many terminals brighten.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from dynamo_core.shared.text import printable

from .blocks import Block, Bullets, Change, Code, Comparison, Heading, Intervals, Paragraph, Role, Table

if TYPE_CHECKING:
    from rich.syntax import ANSISyntaxTheme, Syntax


# Something drawn further to the right, with nothing behind the end of its lines: no blanks to copy.


class Indented:
    """Not rich's Padding, which fills every line up to the length of the longest."""

    def __init__(self, drawn: RenderableType, by: int) -> None:
        self._drawn = drawn
        self._by = by

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=max(1, options.max_width - self._by), height=None)
        for line in console.render_lines(self._drawn, room, pad=False):
            shown = list(_without_blanks_at_the_end(line))
            if shown and self._by:
                yield Segment(" " * self._by)
            yield from shown
            yield Segment.line()


def _without_blanks_at_the_end(line: Sequence[Segment]) -> Iterator[Segment]:
    end = len(line)
    while end and line[end - 1].control is None and not line[end - 1].text.strip(" "):
        end -= 1
    for at, segment in enumerate(line[:end]):
        is_last = at == end - 1 and segment.control is None
        yield segment._replace(text=segment.text.rstrip(" ")) if is_last else segment


# Blocks with every text in them made printable: the recording's own path may hold anything, too.


def printed(block: Block) -> Block:
    """The block, with whatever a terminal would obey spelled out."""
    safe = {field.name: _printable(getattr(block, field.name)) for field in fields(block)}
    return replace(block, **safe)


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return [_printable(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):  # a column, or a line of a comparison
        return replace(value, **{f.name: _printable(getattr(value, f.name)) for f in fields(value)})
    return value


def lines_needed(text: str, width: int) -> int:
    """How many lines of so many columns a text takes, at least one."""
    return max(1, len(Text(text).wrap(Console(width=width), width)))


# A table for a terminal with lines between its rows that go across all columns.


_GAP = 2  # columns between two cells
_INDENT_OF_LINES = 4
_KEYS = 2  # columns that say what a row is about: they stay in it
_NARROWEST = 8
_WIDEST_WORD = 40  # columns; a longer one is broken where nothing else helps
_USUAL = 0.8  # of the cells of a column; the others may wrap
_ABOVE = "cyan"


class DrawnTable:
    """A table; each column is as wide as its cells, and `is_above` columns stand on lines between the rows.

    Where there is no room for all of them, columns wrap between words as long as that is enough. Else the
    widest column wraps, if only few of its cells have to, or its cells go to a line of their own below their
    rows, and so on with the next widest.
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
        if any(headings):
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
        gaps, least = _GAP * (len(columns) - 1), [self._least_widths[i] for i in columns]
        if not self._above and sum(least) + gaps <= room:
            return columns, fitted([widths[i] for i in columns], room - gaps, least)
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
        yield Indented(Text(text, style, overflow="fold"), _INDENT_OF_LINES)


def fitted(widths: Sequence[int], room: int, least: Sequence[int]) -> list[int]:
    """The widths, with the widest cut down until all of them together have room, or have their `least`."""
    narrowed = list(widths)
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


_INDENT = 2
_ROLES: dict[Role, str] = {
    "plain": "",
    "strong": "bold",
    "dim": "dim",
    "warning": "red",
    "advice": "green",
}
_HEADINGS = {1: "bold", 2: "bold underline", 3: "bold"}
_CHANGES = {"kept": "", "removed": "red", "inserted": "green", "note": "cyan"}
_SIGNS = {"kept": " ", "removed": "-", "inserted": "+", "note": "#"}


def _code_theme() -> "ANSISyntaxTheme":
    from pygments.token import Comment, Keyword, Name, Number, String, Token
    from rich.syntax import ANSISyntaxTheme

    return ANSISyntaxTheme(
        {
            Token: Style(),
            Comment: Style(dim=True),
            Keyword: Style(color="magenta"),
            Name.Builtin: Style(color="cyan"),
            Name.Function: Style(bold=True),
            Name.Class: Style(bold=True),
            Number: Style(color="cyan"),
            String: Style(color="green"),
        }
    )


def renderables(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """The blocks with their sections indented, for `Console.print`."""
    section = 0  # where the items of a section begin
    indent = 0
    previous: Block | None = None
    for block in map(printed, blocks):
        if isinstance(block, Intervals):
            continue
        if isinstance(block, Heading):
            if block.level < 3:
                section = _INDENT if block.level == 2 else 0
                indent = section
                own = 0
            else:
                own = section
                indent = section + _INDENT
            if previous is not None:
                yield Text()
            yield Indented(Text(block.text, style=_HEADINGS[block.level]), own)
        else:
            if isinstance(block, Code | Table) and type(previous) is type(block):
                yield Text()  # two of them would run together
            yield Indented(_renderable(block), indent)
        previous = block


def _renderable(block: Paragraph | Bullets | Table | Code | Comparison) -> RenderableType:
    if isinstance(block, Paragraph):
        return Text(block.text, style=_ROLES[block.role])
    if isinstance(block, Bullets):
        return _bullets(block)
    if isinstance(block, Table):
        return DrawnTable(block)
    if isinstance(block, Code):
        return _Code(block)
    return Group(*unified(block))


def _bullets(block: Bullets) -> RenderableType:
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for item in block.items:
        grid.add_row(Text("-", style=_ROLES[block.role]), Text(item, style=_ROLES[block.role]))
    return grid


class _Code:
    """Source text, highlighted where there are colours; working out which costs seconds for a megabyte."""

    def __init__(self, block: Code) -> None:
        self._block = block

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._chosen(console))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._chosen(console)

    def _chosen(self, console: Console) -> "Text | Syntax":
        text = self._block.text.rstrip("\n")
        if console.color_system is None and self._block.first_line is None:
            return Text(text, overflow="fold", tab_size=4)
        from rich.syntax import Syntax  # with pygments: a sixth of what rich takes to import

        return Syntax(
            text,
            self._block.language,
            theme=_code_theme(),
            line_numbers=self._block.first_line is not None,
            start_line=self._block.first_line or 1,
            highlight_lines=set(self._block.marked),
            word_wrap=True,
            background_color="default",
        )


def unified(block: Comparison) -> Iterator[Text]:
    """A comparison one line after the other, marked as `diff` marks them."""
    yield Text(f"--- {block.before}", style=_CHANGES["removed"])
    yield Text(f"+++ {block.after}", style=_CHANGES["inserted"])
    for change in block.changes:
        yield Text(change_as_line(change), style=_CHANGES[change.kind])


def change_as_line(change: Change) -> str:
    """One line of a unified comparison."""
    return f"{_SIGNS[change.kind]} {change.text}".rstrip()
