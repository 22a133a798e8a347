"""Sentences of the pages are short enough to be understood when they are read once."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.places import REPOSITORY

MOST_WORDS = 30
PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").glob("*.md"))]
# Code, comments, tables, pictures and headings are no sentences; a blank line or an item of a list ends one.
NO_PROSE = re.compile(
    r"^```.*?^```$|<!--.*?-->|^\|.*?$|^#.*?$|(?:^\n|\A)(?: {4,}[^\n]*\n+)+", re.MULTILINE | re.DOTALL
)
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
END = re.compile(r"(?<=[.!?:;])[)\"*]*\s+(?=[\"*(\[]*[A-Z`])")


def sentences(text: str) -> Iterator[str]:
    """Each sentence of a page of markdown; code in it counts as one word, a link's address as none."""
    for paragraph in PARAGRAPH.split(NO_PROSE.sub("\n\n", text)):
        words = re.sub(r"`[^`]*`", "`code`", re.sub(r"\]\([^)]*\)", "]", " ".join(paragraph.split())))
        yield from END.split(words)


def words_of(sentence: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_no_sentence_is_long(page: Path) -> None:
    too_long = {each: words_of(each) for each in sentences(page.read_text(encoding="utf-8"))}
    assert {each: count for each, count in too_long.items() if count > MOST_WORDS} == {}


def test_what_ends_a_sentence_and_what_is_none() -> None:
    text = "# One\n\nTwo `three four`. Five\nsix: [Seven](eight nine)\n- ten\n\n    eleven\n\n| twelve |\n"
    assert list(filter(None, sentences(text))) == ["Two `code`.", "Five six:", "[Seven]", "- ten"]
    assert words_of('"Three" `code` — (four)') == 3
