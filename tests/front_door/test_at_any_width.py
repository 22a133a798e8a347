"""Reports on terminals of 60 to 200 columns, dark and light: nothing is broken inside a word, or vanishes."""

import re

import pytest
from rich.color import Color
from rich.style import Style

from dynamo_reporters.page import terminal
from support.answering import answer
from support.stored import stored

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_NAME = re.compile(r"\.py:\d+$|^\w+$")
_MARGIN = 12  # columns that indents and marks take
PAGES = [
    ("explain", "toy"),
    ("profile", "toy"),
    ("profile", "profiled"),
    ("recompiles", "recompiling"),
    ("breaks", "twenty_breaks"),
    ("explain", "recompiling"),
    ("graphs", "training"),
    ("guards", "recompiling"),
    ("ops", "training"),
]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize(("report", "recording"), PAGES)
def test_no_word_is_broken(report: str, recording: str, width: int) -> None:
    plain = answer(report, stored(recording)).stdout
    drawn = answer(report, stored(recording), env={"FORCE_COLOR": "1", "COLUMNS": str(width)}).stdout
    lines = _ANSI.sub("", drawn).splitlines()
    assert max(map(len, lines)) <= width
    # Code may be wider than any terminal, and its lines are folded where they end.
    longest = width - _MARGIN
    words = {word for word in plain.split() if _NAME.search(word) and len(word) < longest}
    shown = {word for line in lines for word in line.split()}
    assert words - shown == set()


def test_no_colour_vanishes_on_a_light_background() -> None:
    styles = [*terminal._ROLES.values(), *terminal._HEADINGS.values(), *terminal._CHANGES.values()]
    parsed = [Style.parse(style) for style in styles]
    parsed += [
        terminal._code_theme().get_style_for_token(token) for token in terminal._code_theme().style_map
    ]
    for style in parsed:
        named = style.color.name if isinstance(style.color, Color) else ""
        assert "yellow" not in named and "bright" not in named and "white" not in named
        assert not (style.bold and named)  # bold colours are bright ones on many terminals
