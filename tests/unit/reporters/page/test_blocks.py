"""Blocks on a terminal, in a pipe and as markdown: nothing is cut, and no stranger's text takes over."""

import io

import pytest
from rich.console import Console

from dynamo_reporters.page.blocks import Block, Bullets, Change, Code, Comparison, Heading, Paragraph, table
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.markdown import to_markdown
from dynamo_reporters.page.terminal import renderables

LONG = "a_name_that_is_much_longer_than_a_narrow_terminal_" * 4
BLOCKS: list[Block] = [
    Heading("Title", 1),
    Heading("Section"),
    Heading("Item", 3),
    Paragraph("text", "warning"),
    Paragraph(
        "long words for every width that stop where the line does. " * 3 + "\nand a short line", "advice"
    ),
    Bullets([LONG]),
    table("count>|name", [["1", LONG], ["22", "b"]]),
    Code("x = 1\ny = 2", "python", 7, frozenset({8})),
    Comparison("old", "new", [Change("kept", "A"), Change("removed", "B"), Change("inserted", "C")]),
]


def on_terminal(width: int, blocks: list[Block] = BLOCKS) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False
    )
    for renderable in renderables(blocks):
        console.print(renderable)
    output: str = console.file.getvalue()  # type: ignore[attr-defined]
    return output


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_nothing_is_cut_at_any_width(width: int) -> None:
    shown = on_terminal(width)
    assert max(map(len, shown.splitlines())) <= width
    assert "".join(shown.split()).count("terminal_") == 8
    assert "…" not in shown
    assert [line for line in shown.splitlines() if line != line.rstrip()] == []


def test_a_table_has_its_columns_two_apart_and_its_rows_right_below_each_other() -> None:
    rows = [["1", "a b"], ["222", "c"]]
    for shown in (on_terminal(80, [table("n>|name", rows)]), plain_text([table("n>|name", rows)])):
        assert shown.splitlines() == ["  n  name", "  1  a b", "222  c"]
    assert on_terminal(80, [table("|", [["a", "b"], ["cc", "d"]])]).splitlines() == ["a   b", "cc  d"]


def test_two_tables_or_two_listings_in_a_row_are_kept_apart() -> None:
    one = table("", [["x"]])
    code = Code("y", "text")
    assert plain_text([one, one, code, code, Paragraph("z")]).splitlines() == [
        "x",
        "",
        "x",
        "y",
        "",
        "y",
        "z",
    ]


def test_a_pipe_has_each_row_in_one_line_and_no_trailing_blanks() -> None:
    lines = plain_text(BLOCKS).splitlines()
    assert any(line.split() == ["1", LONG] for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_items_are_indented_below_their_section() -> None:
    lines = plain_text(BLOCKS).splitlines()
    assert [line for line in lines if line.strip() in ("Title", "Section", "Item", "text")] == [
        "Title",
        "Section",
        "  Item",
        "    text",
    ]


def test_markdown() -> None:
    text = to_markdown(BLOCKS)
    assert text.startswith("# Title\n\n## Section\n\n### Item\n\n**text**\n")
    assert "|   count | name" in text
    assert "```python\n  7  x = 1\n> 8  y = 2\n```" in text
    assert "```diff\n--- old\n+++ new\n  A\n- B\n+ C\n```" in text


def test_markdown_keeps_strange_text_in_its_place() -> None:
    text = to_markdown([table("a|b", [["x|y", "<img src=x>"]]), Code("```\nout\n```", "text")])
    assert "x\\|y" in text
    assert "\\<img" in text
    assert text.rstrip().endswith("\n````")


def test_two_of_a_kind_that_would_run_together_have_a_line_between_them() -> None:
    code, text = Code("x = 1"), Paragraph("text")
    assert plain_text([code, code]).count("\n\n") == 1
    assert plain_text([text, text, code, text]).count("\n\n") == 0
