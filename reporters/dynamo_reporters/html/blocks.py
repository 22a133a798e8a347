"""The blocks of a report as elements: the same ones that a terminal and markdown show."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from dynamo_core.model import Process

from ..page.blocks import Block, Bullets, Code, Comparison, Heading, Intervals, Paragraph, Role, Table
from ..page.terminal import change_as_line
from .coloured import coloured
from .element import Child, Element, h
from .intervals import drawn_intervals
from .links import Links

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
    rows: list[Element] = []
    for row in block.rows:
        for at in above:
            if row[at]:
                cells = h("td", _lines(row[at], links, process), colspan=len(beside), class_="above")
                rows.append(h("tr", cells))
        rows.append(
            h(
                "tr",
                (
                    h(
                        "td",
                        _lines(row[at], links, process),
                        class_="number" if block.columns[at].is_number else None,
                    )
                    for at in beside
                ),
            )
        )
    has_headings = any(block.columns[at].name for at in beside)
    head = h(
        "thead",
        h(
            "tr",
            (
                h(
                    "th",
                    block.columns[at].name,
                    scope="col",
                    class_="number" if block.columns[at].is_number else None,
                )
                for at in beside
            ),
        ),
    )
    return h(
        "div", h("table", head if has_headings else None, h("tbody", rows)), class_="scroll", tabindex="0"
    )


def _comparison(block: Comparison) -> Element:
    lines: list[Child] = [h("span", f"--- {block.before}\n+++ {block.after}\n", class_="note")]
    for kind, changes in groupby(block.changes, key=lambda change: change.kind):
        text = "".join(f"{change_as_line(change)}\n" for change in changes)
        lines.append(text if kind == "kept" else h("span", text, class_=kind))
    return h("pre", h("code", lines), tabindex="0")
