"""`dynamo diff` where a side is a lock file: the page, and JSON (`schemas/diff-locked.schema.json`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from dynamo_core.analysis.words import place
from dynamo_core.lock.comparison import Checked, Difference
from dynamo_core.lock.differences import LockedDifference, Verdict
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value
from ..page.blocks import Block, Bullets, Heading, Paragraph


def locked_blocks(difference: LockedDifference, before: Path, after: Path) -> Iterator[Block]:
    """The page as blocks."""
    yield Heading(difference.sentence, 1)
    yield Paragraph(f"before: {before}\nafter:  {after}", "dim")
    for program in difference.differing:
        yield Heading(program.program)
        yield Bullets([_line(each, difference) for each in (*program.worse, *program.better)])
    for title, names in (("Came", difference.only_after), ("Went", difference.only_before)):
        if names:
            yield Heading(title)
            yield Bullets(list(names))
    unknown = [_not_compared(program) for program in difference.programs if program.not_comparable]
    if unknown:
        yield Heading("Not compared")
        yield Bullets(unknown, "warning")


def _line(fact: Difference, difference: LockedDifference) -> str:
    finding = difference.findings.get(fact.identity or "")
    where = f", at {place(finding.place)}" if finding is not None and finding.place is not None else ""
    return f"{fact.direction}: {fact.text}{where}"


def _not_compared(program: Checked) -> str:
    return f"{program.program}: not recorded on both sides: {', '.join(program.not_comparable)}"


@dataclass(frozen=True)
class ProgramValue:
    """What differs of a program, and the counts that one side did not record."""

    program: str
    differences: tuple[Difference, ...]
    not_comparable: tuple[str, ...]


@dataclass(frozen=True)
class LockedDocument:
    """What differs between two lock files, or a lock file and a recording."""

    schema: Literal["dynamo-diff-locked"]
    version: Literal[1]
    before: str
    after: str
    verdict: Verdict
    sentence: str
    programs: tuple[ProgramValue, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def locked_document(difference: LockedDifference, before: Path, after: Path) -> dict[str, Any]:
    """The document."""
    programs = tuple(
        ProgramValue(each.program, each.differences, each.not_comparable) for each in difference.programs
    )
    document: dict[str, Any] = json_value(
        LockedDocument(
            "dynamo-diff-locked",
            1,
            str(before),
            str(after),
            difference.verdict,
            difference.sentence,
            programs,
            difference.only_before,
            difference.only_after,
        )
    )
    return document
