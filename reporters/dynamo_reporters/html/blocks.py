"""The blocks of a report as elements: the same ones that a terminal and markdown show."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import log2

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token

from dynamo_core.model import Process

from ..page.blocks import (
    Block,
    Bullets,
    Code,
    Comparison,
    Estimate,
    Heading,
    Intervals,
    Paragraph,
    Role,
    Table,
)
from ..page.terminal import change_as_line
from ..parts.measured import factor, interval
from .element import Child, Element, cut, h
from .links import Links

# Ratios with their intervals on one axis: a line at 1, what is better on its right.


_WIDTH, _HEIGHT = 600, 16  # of the box of a drawing, which is stretched to the width that there is
_MARGIN = 1.25  # the axis goes this factor beyond each estimate and 1
_FURTHEST = 4.0  # an interval that goes further beyond all estimates ends at the edge
_TICK = 5


def drawn_intervals(block: Intervals) -> Element:
    """A row each: the name, the drawing, and the same in figures."""
    axis = _Axis(block)
    rows = [
        h(
            "tr",
            h("th", each.name, scope="row"),
            h("td", axis.drawing(each), class_="interval"),
            h("td", f"{factor(each.value)} ({interval(each.low, each.high)})", class_="number"),
        )
        for each in block.estimates
    ]
    head = h("thead", h("tr", [h("th", text, scope="col") for text in ("", axis.label, block.of)]))
    return h("div", h("table", head, h("tbody", rows), class_="intervals"), class_="scroll", tabindex="0")


class _Axis:
    """Ratios on a logarithmic axis from `low` to `high`."""

    def __init__(self, block: Intervals) -> None:
        values = [1.0, *(each.value for each in block.estimates)]
        least, most = min(values) / _MARGIN, max(values) * _MARGIN
        self.low = max(least / _FURTHEST, min([least, *(each.low for each in block.estimates)]))
        self.high = min(most * _FURTHEST, max([most, *(each.high for each in block.estimates)]))

    @property
    def label(self) -> str:
        """What the drawing shows, for a reader who cannot see it."""
        return f"{factor(self.low)} to {factor(self.high)}, the line is at 1"

    def drawing(self, estimate: Estimate) -> Element:
        """A line from end to end, and a tick where the estimate is."""
        begin, end, at, one = map(self._at, (estimate.low, estimate.high, estimate.value, 1.0))
        kind = "better" if estimate.low > 1 else "worse" if estimate.high < 1 else "open"
        text = f"{estimate.name}: {factor(estimate.value)} ({interval(estimate.low, estimate.high)})"
        middle = _HEIGHT / 2
        return h(
            "svg",
            h("line", x1=one, x2=one, y1=0, y2=_HEIGHT, class_="one"),
            h("line", x1=begin, x2=end, y1=middle, y2=middle, class_=kind),
            h("line", x1=at, x2=at, y1=middle - _TICK, y2=middle + _TICK, class_=kind),
            viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
            preserveAspectRatio="none",
            role="img",
            aria_label=text,
        )

    def _at(self, ratio: float) -> float:
        inside = min(max(ratio, self.low), self.high)
        return round(_WIDTH * log2(inside / self.low) / log2(self.high / self.low), 2)


# Python source in colours, a line at a time: what is a keyword, a text, a number, a comment, a name.


_CLASSES = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "m"),
    (Name.Function, "d"),
    (Name.Class, "d"),
    (Name.Decorator, "d"),
)
_LONGEST = 2_000  # characters of a line; one that is longer was not written by a person


def coloured(lines: Sequence[str]) -> list[list[Child]]:
    """Lines that follow on one another, each as its parts."""
    texts = [cut(line, _LONGEST) for line in lines]
    # A line of a recording is one line, whatever it holds.
    text = "\n".join(" ".join(each.splitlines()) for each in texts)
    parts: list[list[Child]] = [[]]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        class_ = _class_of(kind)
        for at, piece in enumerate(value.split("\n")):
            if at:
                parts.append([])
            if piece:
                parts[-1].append(h("span", piece, class_=class_) if class_ else piece)
    return parts[: len(texts)] + [[] for _ in range(len(texts) - len(parts))]


def _class_of(kind: "Token") -> str | None:
    return next((class_ for token, class_ in _CLASSES if kind in token), None)


_MOST_COLOURED = 2_000  # lines
_TAGS = {1: "h3", 2: "h4", 3: "h5"}
_ROLES: dict[Role, str | None] = {
    "plain": None,
    "strong": "strong",
    "dim": "dim",
    "warning": "warning",
    "advice": "advice",
}


def elements(blocks: Iterable[Block], links: Links, process: Process | None = None) -> list[Element]:
    """One element for each block. Headings begin at the third level, below the section's own."""
    return [_element(block, links, process) for block in blocks]


def _element(block: Block, links: Links, process: Process | None) -> Element:
    if isinstance(block, Heading):
        return h(_TAGS[block.level], links.text(block.text, process))
    if isinstance(block, Paragraph):
        return h("p", _lines(block.text, links, process), class_=_ROLES[block.role])
    if isinstance(block, Bullets):
        items = [h("li", _lines(item, links, process)) for item in block.items]
        return h("ul", items, class_=_ROLES[block.role])
    if isinstance(block, Table):
        return table(block, links, process)
    if isinstance(block, Code):
        return h("pre", h("code", _code(block)), tabindex="0")
    if isinstance(block, Intervals):
        return drawn_intervals(block)
    return _comparison(block)


def _code(block: Code) -> Iterator[Child]:
    """The text; where its lines have numbers, as a piece of the program, those and colours with it."""
    text = block.text.rstrip("\n")
    lines = text.split("\n")
    # Of a whole graph, working out the colours takes longer than it helps.
    if block.first_line is None or len(lines) > _MOST_COLOURED:
        yield text
        return
    for at, part in enumerate(coloured(lines), block.first_line):
        is_marked = at in block.marked
        yield h("span", f"{'❱' if is_marked else ' '} {at:>4}  ", class_="note" if is_marked else "dim")
        yield from part
        yield "\n"


def _lines(text: str, links: Links, process: Process | None) -> Iterator[Child]:
    for number, line in enumerate(text.split("\n")):
        if number:
            yield h("br")
        yield from links.text(line, process)


def table(block: Table, links: Links, process: Process | None) -> Element:
    """A table, in a box that scrolls by itself where the screen is narrow."""
    above = [at for at, column in enumerate(block.columns) if column.is_above]
    beside = [at for at in range(len(block.columns)) if at not in above]

    def row_of(tag: str, cells: Iterable[Child | Iterable[Child]], scope: str | None = None) -> Element:
        classes = ["number" if block.columns[at].is_number else None for at in beside]
        named = zip(cells, classes, strict=True)
        return h("tr", [h(tag, cell, scope=scope, class_=class_) for cell, class_ in named])

    rows: list[Element] = []
    for row in block.rows:
        lines = [_lines(cell, links, process) for cell in row]
        rows += [h("tr", h("td", lines[at], colspan=len(beside), class_="above")) for at in above if row[at]]
        rows.append(row_of("td", [lines[at] for at in beside]))
    names = [block.columns[at].name for at in beside]
    head = h("thead", row_of("th", names, "col")) if any(names) else None
    return h("div", h("table", head, h("tbody", rows)), class_="scroll", tabindex="0")


def _comparison(block: Comparison) -> Element:
    lines: list[Child] = [h("span", f"--- {block.before}\n+++ {block.after}\n", class_="note")]
    for kind, changes in groupby(block.changes, key=lambda change: change.kind):
        text = "".join(f"{change_as_line(change)}\n" for change in changes)
        lines.append(text if kind == "kept" else h("span", text, class_=kind))
    return h("pre", h("code", lines), tabindex="0")
