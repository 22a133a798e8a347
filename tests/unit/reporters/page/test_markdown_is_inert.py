"""Whatever a recording says stays text on a markdown page: no link, picture, HTML, mention or block."""

import re

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dynamo_reporters.page.blocks import Block, Bullets, Change, Code, Comparison, Heading, Paragraph, table
from dynamo_reporters.page.markdown import to_markdown

PAYLOADS = [
    "[x](http://evil.example)",
    "![x](http://evil.example/a.png)",
    "<img src=http://evil.example/a.png>",
    "<script>alert(1)</script>",
    "<http://evil.example>",
    "http://evil.example/a?b=c",
    "see HTTPS://evil.example.",
    "www.evil.example",
    "somebody@evil.example",
    "mailto:somebody@evil.example",
    "@torvalds look",
    "#1 and torvalds/linux#2 and GH-3",
    "`code` ``[x](http://evil.example)``",
    "```\n[x](http://evil.example)\n```",
    "`` ` [x](http://evil.example) ` ``",
    "`[x](http://evil.example)",
    "a`b`[x](http://evil.example)`",
    "\\`[x](http://evil.example)\\`",
    "a\n\n# title\n- item\n1. one\n> said",
    "title\n===",
    "title\n---",
    "a|b\n:-|-:\nc|d",
    "a | [x](http://evil.example) | b",
    "`a|http://evil.example|b` `\\|http://evil.example`",
    "`a\\\\|b\\`|[x](http://evil.example)",
    "&lt;img&gt; &#60;b&#62; &amp;",
    "[x]: http://evil.example\n[x]",
    "[^1]: note\n[^1]",
    "~~gone~~ **bold** _dim_ __x__ $x$",
    "    four blanks\n\tand a tab",
    "x\r[x](http://evil.example)\rwww.evil.example",
    "\\[x](http://evil.example)",
    "* \\* <a\nhref=http://evil.example>",
    "- [ ] task http://evil.example`",
    "<!-- http://evil.example -->",
    "+++ plus\n--- minus\n*** star\n___",
]
BLOCKS = {
    "heading": lambda text: Heading(text, 2),
    "paragraph": Paragraph,
    "dim": lambda text: Paragraph(text, "dim"),
    "warning": lambda text: Paragraph(text, "warning"),
    "bullets": lambda text: Bullets([text, "second"]),
    "cell": lambda text: table("a|b>", [[text, "1"], ["second", text]]),
    "code": lambda text: Code(text, "text"),
    "comparison": lambda text: Comparison(text, text, [Change("kept", text), Change("inserted", text)]),
}
# What each kind of block is made of; nothing that a payload adds.
OURS = {
    "heading": {"heading_open", "heading_close", "inline"},
    "paragraph": {"paragraph_open", "paragraph_close", "inline"},
    "bullets": {
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
        *("paragraph_open", "paragraph_close", "inline"),
    },
    "cell": {
        *(
            f"{part}_{end}"
            for part in ("table", "thead", "tbody", "tr", "th", "td")
            for end in ("open", "close")
        ),
        "inline",
    },
    "code": {"fence"},
}
OURS |= {"dim": OURS["paragraph"], "warning": OURS["paragraph"], "comparison": OURS["code"]}
INERT = {"text", "text_special", "code_inline", "softbreak", "hardbreak"}
EMPHASIS = {"em_open", "em_close", "strong_open", "strong_close"}
LINKED_BY_GITHUB = re.compile(r"://|www\.|@\w|#\d|GH-\d|mailto:", re.IGNORECASE)
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_recorded_text_stays_text(payload: str, kind: str) -> None:
    block: Block = BLOCKS[kind](payload)  # type: ignore[operator]
    markdown = to_markdown([block])
    tokens = PARSER.parse(markdown)
    assert {token.type for token in tokens} == OURS[kind], markdown
    for token in inline(tokens):
        if kind == "cell" and token.type == "html_inline":
            assert token.content == "<br>", markdown
            continue
        if kind in ("dim", "warning") and token.type in EMPHASIS:
            continue
        assert token.type in INERT, markdown
        if token.type.startswith("text"):
            assert not LINKED_BY_GITHUB.search(token.content), markdown


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_is_lost(payload: str) -> None:
    """All that is not blank and no backtick is there to be read, in its order."""
    told = "".join(token.content for token in inline(PARSER.parse(to_markdown([Bullets([payload])]))))
    assert re.sub(r"[\s`]|\\x0d", "", told) == re.sub(r"[\s`]", "", payload)


def test_a_table_keeps_its_columns() -> None:
    for payload in PAYLOADS:
        tokens = PARSER.parse(to_markdown([table("a|b|c", [[payload, payload, payload]])]))
        assert sum(token.type == "td_open" for token in tokens) == 3, payload


def test_code_in_our_own_sentences_stays_code() -> None:
    told = to_markdown([Paragraph("use `torch.where(a | b)`, or `@torch.compile`; 3 * 4 < 5")])
    assert told == "use `torch.where(a | b)`, or `@torch.compile`; 3 \\* 4 \\< 5\n"


def test_numbers_stand_to_the_right_and_numbered_lines_keep_their_marks() -> None:
    page = to_markdown(
        [table("name|calls>", [["f", "12"]]), Code("a = 1\nb = 2", first_line=9, marked=frozenset({10}))]
    )
    assert page.splitlines()[1] == "|:-------|--------:|"
    assert "   9  a = 1\n> 10  b = 2" in page
