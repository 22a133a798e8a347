"""Blocks as GitHub-flavoured markdown, to paste into an issue or a pull request."""

import re
from collections.abc import Iterable

from tabulate import tabulate

from .blocks import Block, Bullets, Code, Comparison, Heading, Paragraph, Role, Table
from .terminal import change_as_line

_MARKS: dict[Role, tuple[str, str]] = {
    "plain": ("", ""),
    "strong": ("**", "**"),
    "dim": ("_", "_"),
    "warning": ("**", "**"),
    "advice": ("", ""),
}
# What a stranger's text must not do in a page: open HTML, links, emphasis, code or a table cell.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def to_markdown(blocks: Iterable[Block]) -> str:
    """One document."""
    return "\n\n".join(part for part in map(_part, blocks) if part) + "\n"


def _part(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_escaped(block.text)}"
    if isinstance(block, Paragraph):
        before, after = _MARKS[block.role]
        return "  \n".join(f"{before}{_escaped(line)}{after}" for line in block.text.splitlines() if line)
    if isinstance(block, Bullets):
        return "\n".join(f"- {_escaped(item)}" for item in block.items)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Code):
        return _fenced(block.text.rstrip("\n"), block.language)
    return _comparison(block)


def _table(block: Table) -> str:
    rows = [[_escaped(cell).replace("\n", "<br>") for cell in row] for row in block.rows]
    return tabulate(
        rows,
        headers=[column.name for column in block.columns],
        tablefmt="github",
        colalign=["right" if column.is_number else "left" for column in block.columns] if rows else None,
        disable_numparse=True,
    )


def _comparison(block: Comparison) -> str:
    lines = [f"--- {block.before}", f"+++ {block.after}", *map(change_as_line, block.changes)]
    return _fenced("\n".join(lines), "diff")


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _escaped(text: str) -> str:
    """`text` with nothing that markdown would obey, but for `code`, which keeps its backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", text)
    told = [
        part.replace("|", r"\|") if i % 2 else _SPECIAL.sub(r"\\\1", part) for i, part in enumerate(parts)
    ]
    return "`".join(told)
