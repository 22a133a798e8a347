"""Blocks as GitHub-flavoured markdown, to paste into an issue or a pull request.

What comes from a recording may be a stranger's, so nothing of it may become a link, a picture, HTML or a
mention of somebody: whatever has a meaning in markdown is escaped, and a word that GitHub would turn into a
link by itself becomes `code`, where nothing has a meaning.
"""

import re
from collections.abc import Iterable

from tabulate import tabulate

from .blocks import Block, Bullets, Code, Comparison, Heading, Intervals, Paragraph, Role, Table
from .terminal import change_as_line, printed

_MARKS: dict[Role, tuple[str, str]] = {
    "plain": ("", ""),
    "strong": ("**", "**"),
    "dim": ("_", "_"),
    "warning": ("**", "**"),
    "advice": ("", ""),
}
_LINE_END = re.compile(r"\r\n?|\n")
# Our own `code`, as every reader of markdown sees it: in one line, between single backticks.
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_WORD = re.compile(r"[^\s`]+")
_SPECIAL = re.compile(r"[\\`*_\[\]<>|#~&$]")
# What would begin a list, a heading, a quotation, a table or a line below a title, if it began a line.
_BEGINS_BLOCK = re.compile(r"\A\d{0,9}(?=[-+=:.)])")
# What GitHub links without being asked: addresses, people, issues.
_LINKED = re.compile(r"://|www\.|@|#\d|\bgh-\d|\b(?:mailto|xmpp):", re.IGNORECASE)


def to_markdown(blocks: Iterable[Block]) -> str:
    """One document."""
    return "\n\n".join(part for part in map(_part, map(printed, blocks)) if part) + "\n"


def _part(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {' '.join(_lines(block.text))}"
    if isinstance(block, Paragraph):
        before, after = _MARKS[block.role]
        return "  \n".join(f"{before}{line}{after}" for line in _lines(block.text))
    if isinstance(block, Bullets):
        return "\n".join("- " + "  \n  ".join(_lines(item)) for item in block.items)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Intervals):
        return ""
    if isinstance(block, Code):
        return _fenced(_numbered(block), block.language)
    return _comparison(block)


def _numbered(block: Code) -> str:
    """The text; where its lines have numbers, with those, and a mark before the lines that matter most."""
    text = block.text.rstrip("\n")
    if block.first_line is None:
        return text
    lines = list(enumerate(text.split("\n"), block.first_line))
    width = len(str(lines[-1][0]))
    marks = (">" if at in block.marked else " " for at, _ in lines)
    numbered = (f"{at:{width}}  {line}" for at, line in lines)
    return "\n".join(f"{mark} {text}".rstrip() for mark, text in zip(marks, numbered, strict=True))


def _table(block: Table) -> str:
    return tabulate(
        [[_cell(cell) for cell in row] for row in block.rows],
        headers=[_cell(column.name) for column in block.columns],
        tablefmt="pipe",
        colalign=["right" if column.is_number else "left" for column in block.columns]
        if block.rows
        else None,
        disable_numparse=True,
    )


def _cell(text: str) -> str:
    """The lines of a cell, which stay in it."""
    return "<br>".join(_escaped(line, is_cell=True) for line in _LINE_END.split(text))


def _comparison(block: Comparison) -> str:
    lines = [f"--- {block.before}", f"+++ {block.after}", *map(change_as_line, block.changes)]
    return _fenced("\n".join(lines), "diff")


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _lines(text: str) -> list[str]:
    """The lines of a text that are not empty, each as nothing but text wherever it stands."""
    lines = (_escaped(line.strip()) for line in _LINE_END.split(text))
    return [_BEGINS_BLOCK.sub(r"\g<0>\\", line) for line in lines if line]


def _escaped(line: str, *, is_cell: bool = False) -> str:
    """One line with nothing that markdown would obey, but for `code`, which keeps its backticks."""
    parts: list[str] = []
    position = 0
    for found in _CODE.finditer(line):
        parts += [_plain(line[position : found.start()], is_cell), _code(found[1], is_cell)]
        position = found.end()
    return "".join([*parts, _plain(line[position:], is_cell)])


def _plain(text: str, is_cell: bool) -> str:
    parts: list[str] = []
    position = 0
    for found in _WORD.finditer(text):
        parts.append(_without_meaning(text[position : found.start()]))
        is_linked = _LINKED.search(found[0]) is not None
        parts.append(_code(found[0], is_cell) if is_linked else _without_meaning(found[0]))
        position = found.end()
    return "".join([*parts, _without_meaning(text[position:])])


def _without_meaning(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _code(text: str, is_cell: bool) -> str:
    """Text as code. In a cell a pipe would end it, and is hard to escape: it stands outside."""
    parts = text.split("|") if is_cell else [text]
    return r"\|".join(f"`{part}`" if part else "" for part in parts)
